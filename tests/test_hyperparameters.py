"""Plain values: numbers of NumPy and JAX, lists and vectors become Python's numbers and tuples."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pytest

from dcrl.hyperparameters import plain
from dcrl.tasks.gymnasium import GymnasiumTask, from_info
from dcrl.tasks.registry import BUILT_IN
from dcrl.tasks.task import Integration
from dcrl.types import Descriptor


@dataclass(frozen=True, kw_only=True)
class Inner:
    rate: float = 0.1


@dataclass(frozen=True, kw_only=True)
class Own:
    """A configuration of a user's own algorithm, without checks."""

    count: int = 4
    sizes: tuple[int, ...] = (8, 8)
    inner: Inner = Inner()


def test_a_configuration_without_checks_is_made_plain_at_any_depth():
    given = Own(count=np.int64(3), sizes=[np.int32(2), 5], inner=Inner(rate=jnp.float32(0.5)))
    assert plain(given) == Own(count=3, sizes=(2, 5), inner=Inner(rate=0.5))
    assert json.dumps(dataclasses.asdict(plain(given))) == '{"count": 3, "sizes": [2, 5], "inner": {"rate": 0.5}}'


def test_what_is_plain_already_is_the_same_object():
    config = Own()
    assert plain(config) is config
    for value in (1, 0.5, "a", None, True, (1, (2.0, "b"))):
        assert plain(value) is value


def test_numbers_of_a_task_may_be_those_of_numpy():
    task = dataclasses.replace(BUILT_IN["point_omni"], horizon=np.int64(20))
    assert type(task.horizon) is int
    stepping = Integration(timestep=np.float32(0.5), substeps=np.int32(2))
    assert stepping == Integration(timestep=0.5, substeps=2)
    low, high = np.array([-1.0, -2.0]), [np.float32(1), np.int64(2)]
    space = Descriptor(names=["x", "y"], unit="m", low=low, high=high, over="last")
    assert space == Descriptor(names=("x", "y"), unit="m", low=(-1.0, -2.0), high=(1.0, 2), over="last")
    assert hash(space) == hash(dataclasses.replace(space))
    swimmer = GymnasiumTask(
        name="swimmer",
        summary="swims",
        environment="Swimmer-v5",
        descriptor=space,
        step_descriptor=from_info("x_position", "y_position"),
        horizon=np.int64(20),
    )
    assert type(swimmer.horizon) is int


@pytest.mark.parametrize("horizon", [True, 2.5, "20"])
def test_a_horizon_that_is_no_whole_number_is_refused(horizon):
    with pytest.raises(ValueError, match="the horizon must be a whole number of steps"):
        dataclasses.replace(BUILT_IN["point_omni"], horizon=horizon)
    space = Descriptor(names=("x",), unit="m", low=(0.0,), high=(1.0,), over="last")
    with pytest.raises(ValueError, match="the horizon must be a whole number of steps"):
        GymnasiumTask(
            name="swimmer",
            summary="swims",
            environment="Swimmer-v5",
            descriptor=space,
            step_descriptor=from_info("x_position"),
            horizon=horizon,
        )
