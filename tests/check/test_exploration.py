"""`check_task` plays the policies that training begins with, and warns if they reach few cells."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dcrl.check import check_task
from dcrl.check.exploration import occupied_cells
from dcrl.cli.main import command
from dcrl.networks.perceptrons import initial_policies
from dcrl.networks.policies import policy_layers
from dcrl.tasks.point import point_omni
from dcrl.types import Descriptor, Physics
from support.generations import SMALL, compose


def far(reach: float) -> Descriptor:
    return replace(point_omni.descriptor, low=(-reach, -reach), high=(reach, reach))


COLLAPSED = {
    "bounds far beyond what is reached": (
        replace(point_omni, descriptor=far(300.0)),
        r"256 initial policies of training reach \d of 1,024 cells, with descriptors from .* in bounds from "
        r"\(-300, -300\) to \(300, 300\); training may stay there: narrow the descriptor's bounds .*"
        r"lengthen the horizon \(50 steps\), widen the range of the actions",
    ),
    "one behaviour for all": (
        replace(point_omni, step_descriptor=lambda physics: 0 * physics.qpos),
        r"reach 1 of 1,024 cells, .* or choose a descriptor in which policies differ",
    ),
    "all clipped at a bound": (
        replace(point_omni, step_descriptor=lambda physics: physics.qpos + 30),
        r"reach 1 of 1,024 cells, .* widen the descriptor's bounds, at which 100% of the policies are clipped",
    ),
}


@pytest.mark.parametrize("fault", COLLAPSED)
def test_initial_policies_in_few_cells_are_a_note_that_says_what_to_change(fault: str) -> None:
    task, expected = COLLAPSED[fault]
    (found,) = [finding for finding in check_task(task) if finding.check == "exploration"]
    assert found.status == "note"
    assert re.search(expected, found.sentence), found.sentence


def test_a_task_that_can_be_explored_says_how_many_cells() -> None:
    (found,) = [finding for finding in check_task(point_omni) if finding.check == "exploration"]
    assert found.status == "ok"
    assert re.fullmatch(r"256 initial policies of training reach \d{2,3} of 1,024 cells", found.sentence)


def test_a_long_task_is_explored_with_fewer_policies() -> None:
    def falling(physics: Physics) -> np.ndarray:
        return physics.remaining < 0.999

    long = replace(point_omni, horizon=100_000, terminated=falling)
    (found,) = [finding for finding in check_task(long) if finding.check == "exploration"]
    assert found.sentence.startswith("32 initial policies of training reach ")


def test_they_are_the_policies_that_training_begins_with() -> None:
    algorithm = compose(SMALL["me"])
    state, _ = algorithm.start(7)
    genotypes = initial_policies(algorithm.setting.layers, 7, algorithm.initial_evaluations)
    known = {genotype.tobytes() for genotype in genotypes}
    elites = state.archive.genotype[state.archive.occupied]
    assert len(elites) > 4
    assert {genotype.tobytes() for genotype in elites} <= known


def test_the_first_of_them_do_not_depend_on_their_number() -> None:
    layers = policy_layers(2, 1, (4,))
    np.testing.assert_array_equal(initial_policies(layers, 3, 8)[:2], initial_policies(layers, 3, 2))


@pytest.mark.parametrize(("size", "cells"), [(1, 1024), (2, 32**2), (3, 10**3), (4, 5**4), (12, 2**12)])
def test_cells_are_those_of_an_even_grid(size: int, cells: int) -> None:
    space = Descriptor(names=("d",) * size, unit="", low=(-1.0,) * size, high=(1.0,) * size, over="last")
    corners = np.array([[-1.0] * size, [1.0] * size, [1.0] * size, [-0.999] * size])
    assert occupied_cells(corners, space) == (2, cells)


def test_the_command_counts_the_notes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "from dataclasses import replace\nfrom dcrl.tasks.point import point_omni\n"
        "task = replace(point_omni, step_descriptor=lambda physics: 0 * physics.qpos)\n"
    )
    assert command(["check-task", f"{own}:task"]) == 0
    text = capsys.readouterr().out
    assert "• exploration: 256 initial policies of training reach 1 of 1,024 cells" in text
    assert text.endswith("task: every check passed; see the note\n")
