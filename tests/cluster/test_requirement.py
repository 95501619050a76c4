"""What needs Ray is refused with a sentence where Ray is missing or broken; nothing else imports it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dcrl.cluster.connection import require_ray


def test_a_missing_and_a_broken_ray_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"^--backend ray is an optional extra: pip install 'dcrl-map-elites\[ray\]'$"):
        require_ray("--backend ray")
    monkeypatch.delitem(sys.modules, "ray")
    (tmp_path / "ray.py").write_text("raise ImportError('a library is missing')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=r"the Ray that is installed cannot be imported \(a library is missing\)"):
        require_ray()
