"""Checks of hyperparameters: every configuration refuses a value that no run could use, with one sentence.

Numbers of NumPy and JAX become Python's, and lists and vectors become tuples: equal configurations are then equal, and
the same as JSON.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

# Of a field that older configurations lack: `dataclasses.field(default=..., metadata=ADDED)`. Its default is how runs
# were before there was such a field, and a stored configuration without it is read so.
ADDED = {"added": True}


def at_least(config: Any, least: int, *names: str) -> None:
    """Whole numbers from `least` on."""
    for name, value in _values(config, names):
        if not is_whole(value) or value < least:
            raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")


def optional_count(config: Any, *names: str) -> None:
    """Whole numbers from 1 on, or None."""
    for name, value in _values(config, names):
        if value is not None and (not is_whole(value) or value < 1):
            raise ValueError(f"{name} must be a whole number of at least 1, or None for none, got {value!r}")


def positive(config: Any, *names: str) -> None:
    """Finite numbers above 0."""
    for name, value in _values(config, names):
        if not (_is_number(value) and value > 0):
            raise ValueError(f"{name} must be above 0 and finite, got {value!r}")


def not_negative(config: Any, *names: str) -> None:
    """Finite numbers from 0 on."""
    for name, value in _values(config, names):
        if not (_is_number(value) and value >= 0):
            raise ValueError(f"{name} must be at least 0 and finite, got {value!r}")


def within(config: Any, low: float, high: float, *names: str) -> None:
    """Numbers from `low` to `high`."""
    for name, value in _values(config, names):
        if not (_is_number(value) and low <= value <= high):
            raise ValueError(f"{name} must lie in [{low:g}, {high:g}], got {value!r}")


def one_of(config: Any, name: str, *values: str) -> None:
    """One of some words."""
    if getattr(config, name) not in values:
        raise ValueError(f"{name} must be {' or '.join(values)}, got {getattr(config, name)!r}")


def layer_sizes(config: Any, *names: str) -> None:
    """Sizes of hidden layers: at least one layer, each of at least 1 unit."""
    for name, value in _values(config, names):
        sizes = value if isinstance(value, tuple) else ()
        if not sizes or not all(is_whole(units) and units >= 1 for units in sizes):
            raise ValueError(f"{name} needs at least one layer of 1 unit or more, got {value!r}")


def plain(value: Any) -> Any:
    """A value of a configuration, or a whole configuration, without NumPy's and JAX's numbers and without lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
        changed = {name: new for name, old in fields.items() if (new := plain(old)) is not old}
        return dataclasses.replace(value, **changed) if changed else value
    if isinstance(value, list | tuple):
        items = [plain(item) for item in value]
        same = type(value) is not list and all(new is old for new, old in zip(items, value, strict=True))
        return value if same else tuple(items)
    if getattr(value, "ndim", None) in (0, 1) and hasattr(value, "tolist"):  # of NumPy or JAX
        values = value.tolist()
        return tuple(values) if isinstance(values, list) else values
    return value


def make_plain(config: Any, *names: str) -> None:
    """Replace fields of a frozen dataclass under construction by their plain values."""
    for name in names:
        old = getattr(config, name)
        if (new := plain(old)) is not old:
            object.__setattr__(config, name, new)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def _values(config: Any, names: tuple[str, ...]) -> list[tuple[str, Any]]:
    make_plain(config, *names)
    return [(name, getattr(config, name)) for name in names]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
