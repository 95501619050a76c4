"""Every hyperparameter of every algorithm is refused, in Python and by the command, when no run could use it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, get_type_hints

import jax.numpy as jnp
import numpy as np
import pytest

from dcrl.algorithms import registry
from dcrl.algorithms.me import MEConfig
from dcrl.cli.main import command
from dcrl.variation.iso_line import IsoLineConfig

USELESS: dict[Any, tuple[Any, ...]] = {
    float: (float("nan"), float("inf"), -float("inf"), -1.0, "0.1", True),
    int: (-1, 1.5, float("nan"), True, "3"),
    int | None: (0, -1, 1.5, True),
    tuple[int, ...]: ((), (0,), (16, -1), (1.5,)),
}


def fields(config: Any) -> Iterator[tuple[Any, str, Any]]:
    """Every field of a configuration and of those in it: the configuration it stands in, its name and its type."""
    hints = get_type_hints(type(config))
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if dataclasses.is_dataclass(value):
            yield from fields(value)
        else:
            yield config, field.name, hints[field.name]


EVERY = {
    f"{type(config).__name__}.{name}": (config, name, kind)
    for entry in registry.ALGORITHMS.values()
    for config, name, kind in fields(entry.default)
    if kind in USELESS
}


def test_all_kinds_of_fields_are_tried():
    assert {kind for _, _, kind in EVERY.values()} == set(USELESS)
    assert len(EVERY) > 30


@pytest.mark.parametrize("where", EVERY)
def test_a_useless_value_is_refused_by_name(where):
    config, name, kind = EVERY[where]
    for value in USELESS[kind]:
        with pytest.raises(ValueError, match=name):
            dataclasses.replace(config, **{name: value})


@pytest.mark.parametrize(
    "where", [where for where, (config, name, _) in EVERY.items() if getattr(config, name) is not None]
)
def test_numbers_of_numpy_and_jax_are_those_of_python(where):
    config, name, kind = EVERY[where]
    value = getattr(config, name)
    if kind is float:
        given = [np.float64(value), np.array(value)]
    elif kind == tuple[int, ...]:
        given = [list(value), np.array(value), tuple(np.int32(units) for units in value)]
    else:
        given = [np.int64(value), np.uint32(value), jnp.asarray(value)]
    expected = dataclasses.replace(config, **{name: value})
    for other in given:
        found = dataclasses.replace(config, **{name: other})
        assert found == expected
        assert hash(found) == hash(expected)
        assert repr(found) == repr(expected)  # Python's own types, which JSON can hold


def test_a_single_precision_number_keeps_its_value():
    sigma = IsoLineConfig(iso_sigma=np.float32(0.005)).iso_sigma
    assert type(sigma) is float
    assert sigma == float(np.float32(0.005))
    with pytest.raises(ValueError, match="iso_sigma must be at least 0 and finite, got nan"):
        IsoLineConfig(iso_sigma=np.float32("nan"))
    with pytest.raises(ValueError, match="ga_offspring must be a whole number of at least 1, got True"):
        MEConfig(ga_offspring=np.bool_(True))


@pytest.mark.parametrize("name", registry.ALGORITHMS)
def test_the_command_refuses_a_number_that_is_not_finite(name, capsys, tmp_path):
    numbers = [field for _, field, kind in fields(registry.get(name).default) if kind is float][:3]
    assert numbers
    for field in numbers:
        flag = f"--{field.replace('_', '-')}"
        line = ["train", "point_omni", "--algorithm", name, flag, "nan", "--output", str(tmp_path)]
        with pytest.raises(SystemExit) as refusal:
            command(line)
        assert refusal.value.code == 2
        assert f"{field} must " in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
