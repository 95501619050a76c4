"""What the page can show besides fitness: the values of cells, the axes of charts, the names of feet."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from dcrl.evaluation.files import table
from dcrl.evaluation.repeats import unplayed
from dcrl.evaluation.reproducibility import measure
from dcrl.files import read_tensors, write_tensors
from dcrl.networks.policies import policy_layers
from dcrl.rendering.joints import joint_series
from dcrl.rendering.motion import record
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.save import save
from dcrl.tasks.walker2d import walker2d_uni

pytest.importorskip("nicegui", reason="the explorer is an optional extra")

from dcrl.explorer.curves import chart_options, evaluations_axis
from dcrl.explorer.motions import feet_names
from dcrl.explorer.opened import Opened, open_runs


def shown(opened: Opened) -> dict[str, list[float | None]]:
    """The values by their labels, as the browser gets them."""
    return {value["label"]: value["values"] for value in json.loads(opened.content.map)["values"]}


def re_evaluation(found: Repertoire) -> str:
    """The table of 4 repeats in which every elite loses 0, 1, 2 and 3 of its fitness."""
    played = unplayed(found, 4, actor=False)
    lost = np.arange(4, dtype=np.float32)[:, None]
    played = dataclasses.replace(
        played,
        fitness=played.stored_fitness - lost,
        descriptor=np.broadcast_to(played.stored_descriptor, played.descriptor.shape).copy(),
        steps=np.full(played.steps.shape, 50, np.int32),
        done=played.total,
    )
    measured = measure(played)
    return table(measured, measured.elites, stored=True)


def test_cells_can_be_coloured_by_all_that_is_known_of_them(run: Path, found: Repertoire, tmp_path: Path) -> None:
    path = Path(shutil.copytree(run, tmp_path / "run"))
    (opened,) = open_runs((path,), trust=False)
    values = shown(opened)
    assert list(values) == ["fitness", "generation of entry"]
    entered = np.array([-1 if value is None else value for value in values["generation of entry"]])
    np.testing.assert_array_equal(entered >= 0, found.occupied)
    assert set(entered[found.occupied]) <= {0, 1, 2, 3, 4}
    assert entered.max() > 0
    (path / "reproducibility").mkdir()
    (path / "reproducibility" / "elites.csv").write_text(re_evaluation(found))
    opened.refresh()
    values = shown(opened)
    mean, spread, samples = (
        np.array(values[f"{name}, re-evaluated"], np.float64)
        for name in ("mean fitness", "spread of fitness", "samples")
    )
    np.testing.assert_allclose(mean[found.occupied], found.fitness[found.occupied] - 1.5, rtol=1e-6)
    np.testing.assert_allclose(spread[found.occupied], np.std(np.arange(4), ddof=1), rtol=1e-4)
    assert set(samples[found.occupied]) == {4}
    assert np.isnan(mean[~found.occupied]).all()
    better = found.fitness.copy()
    cell = int(np.flatnonzero(found.occupied)[0])
    better[cell] += 1  # another elite than the one that was re-evaluated
    save(path / "archive.safetensors", dataclasses.replace(found, fitness=better))
    opened.refresh()
    values = shown(opened)
    assert "generation of entry" not in values  # the new file does not say
    assert [i for i in np.flatnonzero(found.occupied) if values["samples, re-evaluated"][i] is None] == [cell]


def test_other_values_in_the_file_are_offered_by_their_names(run: Path, tmp_path: Path) -> None:
    tensors, metadata = read_tensors(run / "archive.safetensors")
    cells = len(tensors["fitness"])
    own = {
        "my_value": np.arange(cells, dtype=np.float32),
        "too_long": np.zeros(cells + 1, np.float32),
        "nothing": np.full(cells, np.nan, np.float32),
        "text": np.zeros(cells, np.uint8),
        "n" * 61: np.ones(cells, np.float32),
    }
    metadata = {name: value for name, value in metadata.items() if name not in ("format", "checksum")}
    path = tmp_path / "other.safetensors"
    write_tensors(path, tensors | own, metadata, own_checksum=True)
    (opened,) = open_runs((path,), trust=False)
    assert list(shown(opened)) == ["fitness", "generation of entry", "my value"]


@pytest.mark.parametrize(("most", "step"), [(80, 40), (2560, 1000), (7680, 3000), (1_000_000, 500_000), (1, 1)])
def test_charts_share_one_labelled_axis_of_evaluations(most: int, step: int) -> None:
    axis = evaluations_axis(np.array([0.0, most]))
    assert axis == {"min": 0, "max": max(most, 2), "interval": step}
    assert chart_options("coverage")["xAxis"]["name"] == "evaluations"


def test_feet_are_called_as_in_the_descriptor() -> None:
    task = dataclasses.replace(walker2d_uni, horizon=60)
    layers = policy_layers(task.observation_size, task.action_size, (4,))
    motion = record(task, np.zeros(layers.parameters, np.float32), hidden=(4,))
    assert motion.contact_names == ("foot_geom on floor", "foot_left_geom on floor")
    assert feet_names(motion, task.descriptor.names) == ["right foot", "left foot"]
    (angles, *_) = joint_series(task, motion)
    assert [name.replace("_", " ") for name in angles.names[2::3]] == ["right foot", "left foot"]
    other = dataclasses.replace(motion, step_descriptor=motion.path[:, :2])
    assert feet_names(other, ("x", "y")) == ["foot", "foot left"]
