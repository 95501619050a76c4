"""Entry points as if installed packages had them."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from dcrl.algorithms import registry as algorithms
from dcrl.tasks import registry as tasks
from dcrl.user_code import offered


def offer(monkeypatch: pytest.MonkeyPatch, group: str, **points: str) -> None:
    """Offer objects, as `module:object`, by name in a group."""
    found = {name: EntryPoint(name=name, value=value, group=group) for name, value in points.items()}
    for module in (algorithms, tasks, offered):
        monkeypatch.setattr(module, "offered", lambda asked: found if asked == group else {})
