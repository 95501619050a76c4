"""Repertoires of a run: written and read back, chosen from by descriptor, with the actions of the simulator."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import dcrl
from dcrl.algorithms.algorithm import State
from dcrl.algorithms.me import MEConfig
from dcrl.files import write_tensors
from dcrl.learners.conditioning import normalise
from dcrl.networks.perceptrons import act, join
from dcrl.runs.config import RunConfig, from_json
from dcrl.runs.run import Run
from dcrl.runs.training import begin
from dcrl.tasks.point import point_omni
from dcrl.variation.actor_injection import ActorInjectionConfig
from support.run_config import ARCHIVE, CONFIG


def begun(config: RunConfig, output: Path) -> tuple[Run, State]:
    """A run with its initial generation saved."""
    with begin(config, output, overwrite=False) as run:
        state, report = run.algorithm.start(config.seed)
        run.record(report)
        run.save(state)
    return run, state


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> tuple[Run, State]:
    return begun(CONFIG, tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def repertoire(saved) -> dcrl.Repertoire:
    return dcrl.load(saved[0].path)


def observations(count: int = 10) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, 5)).astype(np.float32)


def test_what_is_written_is_read_back(saved, repertoire):
    run, state = saved
    archive, occupied = state.archive, state.archive.occupied
    assert repertoire.task == "point_omni"
    assert repertoire.layers.sizes == (5, 16, 12, 2)
    assert repertoire.space == point_omni.descriptor
    np.testing.assert_array_equal(repertoire.centroids, archive.centroids)
    np.testing.assert_array_equal(repertoire.occupied, occupied)
    np.testing.assert_array_equal(repertoire.fitness[occupied], archive.fitness[occupied])
    assert np.isnan(repertoire.fitness[~occupied]).all()
    np.testing.assert_array_equal(repertoire.descriptor, archive.descriptor)
    np.testing.assert_array_equal(repertoire.genotype, archive.genotype)
    for path in (str(run.path), run.path, run.path / "archive.safetensors"):
        np.testing.assert_array_equal(dcrl.load(path).genotype, archive.genotype)


def test_the_files_need_safetensors_alone(saved):
    run, _ = saved
    tensors = load_file(run.path / "archive.safetensors")
    parameters = 5 * 16 + 16 + 16 * 12 + 12 + 12 * 2 + 2
    assert {name: (array.shape, str(array.dtype)) for name, array in tensors.items()} == {
        "centroids": ((40, 2), "float32"),
        "occupied": ((40,), "bool"),
        "fitness": ((40,), "float32"),
        "descriptor": ((40, 2), "float32"),
        "genotype": ((40, parameters), "float32"),
    }
    assert load_file(run.path / "actor.safetensors")["parameters"].shape == (parameters + 2 * 16,)
    for file, sizes in (("archive", [5, 16, 12, 2]), ("actor", [7, 16, 12, 2])):
        with safe_open(run.path / f"{file}.safetensors", framework="numpy") as opened:
            metadata = json.loads(opened.metadata()["dcrl"])
        assert metadata["layers"] == sizes
        assert (metadata["task"], metadata["algorithm"], metadata["seed"]) == ("point_omni", "dcrl_me", 3)
        assert (metadata["generation"], metadata["evaluations"]) == (0, 40)
        assert metadata["descriptor"]["low"] == [-3.0, -3.0]
        assert from_json(metadata["configuration"]) == CONFIG


def test_policy_for_is_the_elite_with_the_nearest_descriptor(repertoire):
    random = np.random.default_rng(1)
    for wanted in random.uniform(-3, 3, (20, 2)):
        cells = np.flatnonzero(repertoire.occupied).tolist()
        nearest = min(cells, key=lambda cell, wanted=wanted: np.hypot(*(repertoire.descriptor[cell] - wanted)))
        expected = repertoire.policy(nearest)
        np.testing.assert_array_equal(repertoire.policy_for(wanted)(observations()), expected(observations()))


def test_an_elite_acts_as_it_was_evaluated(repertoire):
    """Its policy in NumPy, on what it saw in the simulator, gives the actions it took there."""
    cells = np.flatnonzero(repertoire.occupied)
    played = dcrl.rollout("point_omni", repertoire.genotype[cells], hidden=(16, 12))
    for row, cell in enumerate(cells):
        actions = repertoire.policy(cell)(played.transitions.observation[row, :50])
        np.testing.assert_allclose(actions, played.transitions.action[row], atol=1e-6)


def test_the_actor_is_the_conditioned_network(saved, repertoire):
    run, state = saved
    layers = run.algorithm.learners[0].actor_layers
    seen = observations()
    for wanted in ([0.0, 0.0], [-3.0, 3.0], (1.5, -0.25)):
        condition = normalise(point_omni.descriptor, np.array(wanted))
        inputs = np.concatenate([seen, np.broadcast_to(condition, (10, 2))], axis=1)
        expected = act(layers.split(join(state.learned[0].actor.online)), inputs)
        np.testing.assert_allclose(repertoire.actor(wanted)(seen), expected, atol=2e-6)
    assert (repertoire.actor([0, 0])(seen) != repertoire.actor([1, 1])(seen)).any()


@pytest.mark.parametrize("injected", ["online", "target"])
def test_the_stored_actor_is_the_one_that_is_injected(injected, tmp_path):
    hyperparameters = dataclasses.replace(CONFIG.hyperparameters, ai=ActorInjectionConfig(injected=injected))
    with begin(dataclasses.replace(CONFIG, hyperparameters=hyperparameters), tmp_path, overwrite=False) as run:
        state, _ = run.algorithm.start(3)
        state, report = run.algorithm.advance(state, 3)
        run.record(report)
        run.save(state)
    stored = load_file(run.path / "actor.safetensors")["parameters"]
    actor = state.learned[0].actor
    assert (np.asarray(join(actor.online)) != np.asarray(join(actor.target))).any()
    np.testing.assert_array_equal(stored, np.asarray(join(getattr(actor, injected))))


@pytest.mark.parametrize("method", ["policy_for", "actor"])
@pytest.mark.parametrize("wrong", [[0.0], [0.0, 0.0, 0.0], 1.0, [[0.0, 0.0]], [3.1, 0.0], [0.0, -4.0], [np.nan, 0.0]])
def test_a_descriptor_that_cannot_be_is_refused(repertoire, method, wrong):
    with pytest.raises(ValueError, match=r"a descriptor of point_omni is 2 numbers \(final x, final y\) from .* got"):
        getattr(repertoire, method)(wrong)


def test_an_algorithm_without_an_actor_says_so(tmp_path):
    config = dataclasses.replace(CONFIG, algorithm="me", hyperparameters=MEConfig(ga_offspring=40, archive=ARCHIVE))
    run, _ = begun(config, tmp_path)
    assert not (run.path / "actor.safetensors").exists()
    found = dcrl.load(run.path)
    assert found.occupied.any()
    with pytest.raises(ValueError, match="no descriptor-conditioned actor"):
        found.actor([0, 0])


def test_what_is_no_run_is_refused(tmp_path, saved):
    with pytest.raises(ValueError, match="there is no repertoire at"):
        dcrl.load(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="expected a run directory"):
        dcrl.load(tmp_path)
    whole = (saved[0].path / "archive.safetensors").read_bytes()
    foreign = tmp_path / "archive.safetensors"
    for content in (b"", b"text", whole[:100], whole[:-1]):
        foreign.write_bytes(content)
        with pytest.raises(ValueError, match="cannot read"):
            dcrl.load(foreign)
    save_file({"weights": np.zeros(3)}, foreign)
    with pytest.raises(ValueError, match="is not a dcrl file"):
        dcrl.load(foreign)
    save_file({"weights": np.zeros(3)}, foreign, metadata={"dcrl": '{"format": 1}'})
    with pytest.raises(ValueError, match="lacks the tensor 'centroids'"):
        dcrl.load(foreign)
    save_file(load_file(saved[0].path / "archive.safetensors"), foreign, metadata={"dcrl": '{"format": 1}'})
    with pytest.raises(ValueError, match="lacks the metadata field 'task'"):
        dcrl.load(foreign)


def test_a_used_directory_is_not_written_over(saved):
    run, _ = saved
    before = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match="already holds a run; `dcrl resume"):
        Run.create(run.path.parents[2], CONFIG, run.algorithm)
    assert {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()} == before


def test_the_same_archive_is_the_same_file_to_the_byte(tmp_path):
    tensors, metadata = {"b": np.ones((2, 3), np.float32), "a": np.zeros(4, np.float32)}, {"task": "x", "seed": 1}
    for name in ("one", "two", "three"):
        write_tensors(tmp_path / name, tensors, metadata)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() == (tmp_path / "three").read_bytes()


def test_repertoires_are_compared_by_what_they_hold_and_described_in_a_line(saved, repertoire):
    assert repertoire == dcrl.load(saved[0].path)
    other = repertoire.genotype.copy()
    other[np.flatnonzero(repertoire.occupied)[0], 0] += 1
    assert repertoire != dataclasses.replace(repertoire, genotype=other)
    assert repertoire != dataclasses.replace(repertoire, actor_parameters=None)
    assert repertoire != "point_omni"
    elites, best = int(repertoire.occupied.sum()), f"{np.nanmax(repertoire.fitness):,.2f}"
    cells = f"{elites} elites in {len(repertoire.occupied)} cells"
    assert repr(repertoire) == f"<Repertoire: dcrl_me on point_omni, {cells}, max fitness {best}, with an actor>"
    empty = dataclasses.replace(repertoire, occupied=np.zeros_like(repertoire.occupied), algorithm=None)
    assert repr(empty).startswith("<Repertoire: elites on point_omni, 0 elites in ")
