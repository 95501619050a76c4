"""Repeats depend on nothing but their seeds; statistics of them are those of closed forms and of hands."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import dcrl
from dcrl import simulators
from dcrl.evaluation.repeats import Repeats, play, resized, start_seeds, unplayed
from dcrl.evaluation.reproducibility import evaluate, measure
from dcrl.networks.policies import Layers
from dcrl.repertoires.load import load
from dcrl.repertoires.repertoire import Repertoire
from dcrl.simulators.rollouts import start_keys
from dcrl.tasks import point
from dcrl.tasks.point import point_omni
from dcrl.types import Descriptor
from support.generations import diverging

HALF = 0.5


def played(repertoire: Repertoire, repeats: int, chunk: int, threads: int = 1, seed: int = 0) -> Repeats:
    with simulators.make(point_omni, "mujoco", threads) as simulator:
        *_, last = play(repertoire, unplayed(repertoire, repeats, actor=True), simulator, seed, chunk)
    return last


def same(one: Repeats, other: Repeats) -> bool:
    names = ("fitness", "descriptor", "steps")
    return all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in names)


# --- episodes ---------------------------------------------------------------------------------------------------------


def test_repeats_do_not_depend_on_pieces_threads_or_on_how_many_there_are(trained):
    repertoire = load(trained)
    whole = played(repertoire, 3, 10_000)
    assert np.isfinite(whole.fitness).all()
    assert same(whole, played(repertoire, 3, 61, threads=2))
    fewer = played(repertoire, 2, 1000)
    assert fewer.fitness.tobytes() == whole.fitness[:2].tobytes()
    with simulators.make(point_omni, "mujoco", 1) as simulator:
        *_, more = play(repertoire, resized(fewer, 3), simulator)
    assert same(more, whole)
    assert not np.isclose(played(repertoire, 1, 1000, seed=1).descriptor, whole.descriptor[:1]).all(axis=-1).any()


def test_starts_are_all_different_and_not_those_of_training():
    seeds = start_seeds(0, np.arange(100)[:, None], np.arange(50))
    assert seeds.shape == (100, 50)
    assert len(np.unique(seeds)) == seeds.size
    assert (start_seeds(0, 17, 31) == seeds[17, 31]).all()
    assert not set(start_seeds(1, np.arange(100), 0).tolist()) & set(seeds.ravel().tolist())
    assert seeds.min() < 2**28 < 15 * 2**28 < seeds.max()  # all 32 bits are in use


def test_totals_are_those_of_rollouts_taken_by_hand(trained):
    """Everything again with `dcrl.rollout` and NumPy, the actor's first layer written out."""
    repertoire = load(trained)
    found = evaluate(repertoire, 3, seed=3)
    cells = np.flatnonzero(repertoire.occupied)
    low, high = np.array(repertoire.space.low), np.array(repertoire.space.high)
    assert repertoire.actor_parameters is not None
    (kernel, bias), *rest = repertoire.actor_layers.split(repertoire.actor_parameters)
    for measured, totals, of_actor in (
        (found.elites, found.elites_totals, False),
        (found.actor, found.actor_totals, True),
    ):
        assert measured is not None
        assert totals is not None
        score, distances, best, steps = 0.0, [], -np.inf, 0
        for row, cell in enumerate(cells):
            centroid = repertoire.centroids[cell]
            genotype = repertoire.genotype[cell]
            if of_actor:
                told = (2 * (centroid - low) / (high - low) - 1).astype(np.float32)
                layers = [(kernel[:-2], bias + told @ kernel[-2:]), *rest]
                genotype = np.concatenate([part.ravel() for layer in layers for part in layer])
            seeds = [int(start_seeds(3, cell, repeat)) for repeat in range(3)]
            out = dcrl.rollout("point_omni", np.tile(genotype, (3, 1)), seed=seeds, hidden=(16, 16), record=False)
            fitness, descriptor = out.fitness.astype(float), out.descriptor.astype(float)
            tolerance = 1e-3 if of_actor else 1e-9  # the actor's layer is rounded in another order
            assert measured.fitness_mean[row] == pytest.approx(np.mean(fitness), abs=tolerance)
            assert measured.fitness_deviation[row] == pytest.approx(np.std(fitness, ddof=1), abs=tolerance)
            np.testing.assert_allclose(measured.descriptor_mean[row], descriptor.mean(0), atol=tolerance)
            np.testing.assert_allclose(measured.descriptor_deviation[row], descriptor.std(0, ddof=1), atol=tolerance)
            to_stored = np.sqrt(((descriptor - repertoire.descriptor[cell]) ** 2).sum(-1)).mean()
            if not of_actor:
                assert measured.distance_to_stored[row] == pytest.approx(to_stored, abs=1e-6)
            nearest = np.argmin(((repertoire.centroids - descriptor.mean(0)) ** 2).sum(-1))
            assert measured.landing[row] == nearest
            distances.append(np.sqrt(((descriptor - centroid) ** 2).sum(-1)).mean())
            score, best, steps = score + fitness.mean(), max(best, fitness.mean()), steps + out.steps.sum()
        assert totals.expected_qd_score == pytest.approx(score, abs=0.01)
        assert totals.expected_max_fitness == pytest.approx(best, abs=1e-3)
        assert totals.expected_distance_to_centroid == pytest.approx(np.mean(distances), abs=1e-4)
        assert (totals.steps, totals.episodes, totals.invalid) == (steps, 3 * len(cells), 0)


# --- closed forms -----------------------------------------------------------------------------------------------------


def pushed(force: tuple[float, float]) -> np.ndarray:
    """Where the point ends after its constant push, from the origin: MuJoCo's implicit step by hand."""
    velocity = position = np.zeros(2)
    for _ in range(point_omni.horizon * point_omni.integration.substeps):
        velocity = (velocity + point_omni.integration.timestep * np.array(force)) / (
            1 + point_omni.integration.timestep
        )
        position = position + point_omni.integration.timestep * velocity
    return position


def mean_distance(offset: np.ndarray, a: float) -> float:
    """E |offset + U|, U uniform in the square of half width a: the integral of sqrt(x^2 + y^2) over a rectangle."""

    def integral(x: float, y: float) -> float:
        r = np.hypot(x, y)
        return (2 * x * y * r + x**3 * np.log(y + r) + y**3 * np.log(x + r)) / 6

    (x1, x2), (y1, y2) = ((each - a, each + a) for each in offset)
    return (integral(x2, y2) - integral(x1, y2) - integral(x2, y1) + integral(x1, y1)) / (2 * a) ** 2


def test_the_mean_distance_from_the_middle_of_a_square_is_the_known_one():
    a, known = 0.05, (np.sqrt(2) + np.arcsinh(1)) / 3
    assert mean_distance(np.array([1e-9, 2e-9]), a) == pytest.approx(a * known, rel=1e-6)
    assert mean_distance(np.array([3.0, 4.0]), 1e-3) == pytest.approx(5, rel=1e-6)


def pushes(forces: np.ndarray, centroids: np.ndarray, stored: np.ndarray) -> Repertoire:
    """One elite a cell that pushes with a constant force, whatever it sees: all weights 0 but the last biases."""
    layers = Layers((5, 2))
    genotype = np.zeros((len(forces), layers.parameters), np.float32)
    genotype[:, -2:] = np.arctanh(forces)
    return Repertoire(
        task="point_omni",
        layers=layers,
        space=point_omni.descriptor,
        centroids=centroids.astype(np.float32),
        occupied=np.ones(len(forces), bool),
        fitness=np.full(len(forces), 60, np.float32),  # a stored fitness above what the policies achieve
        descriptor=stored.astype(np.float32),
        genotype=genotype,
    )


def test_expected_metrics_of_the_point_are_their_closed_forms():
    """Start noise U(+-0.05 m) in x and y moves the end by as much; all within 4 standard errors."""
    forces = np.array([(0, 0), (0.3, 0), (-0.2, 0.5), (0.1, -0.6), (-0.5, -0.5)])
    ends = np.stack([pushed(force) for force in forces])
    offsets = np.array([(0, 0), (0.02, 0.03), (-0.2, 0.1), (0.04, -0.3), (0.05, 0.05)])
    stored = ends + np.array([0.3, 0.4])
    repeats, a = 600, point.NOISE
    found = evaluate(pushes(forces, ends - offsets, stored), repeats)
    elites, totals = found.elites, found.elites_totals
    fitness = point_omni.horizon * (1 - point.CONTROL_COST * (forces**2).sum(1))
    np.testing.assert_allclose(elites.fitness_mean, fitness, rtol=1e-5)
    np.testing.assert_allclose(elites.fitness_deviation, 0, atol=1e-5)
    assert totals.expected_qd_score == pytest.approx(fitness.sum(), rel=1e-5)
    assert totals.expected_max_fitness == pytest.approx(50)
    assert found.stored.qd_score == 300

    error = 4 * a / np.sqrt(3 * repeats)
    np.testing.assert_allclose(elites.descriptor_mean, ends, atol=error)
    # the variance of s^2 of a uniform variable is (m4 - m2^2) / R, m4 = a^4 / 5, m2 = a^2 / 3
    error_of_deviation = 4 * np.sqrt((1 / 5 - 1 / 9) * a**4 / repeats) / (2 * a / np.sqrt(3))
    np.testing.assert_allclose(elites.descriptor_deviation, a / np.sqrt(3), atol=error_of_deviation)

    for distance, away in ((elites.distance_to_centroid, offsets), (elites.distance_to_stored, ends - stored)):
        closed = np.array([mean_distance(offset + 1e-9, a) for offset in away])
        squares = (away**2).sum(1) + 2 * a**2 / 3  # E |offset + U|^2
        np.testing.assert_allclose(distance, closed, atol=4 * np.sqrt((squares - closed**2).max() / repeats))
        assert (np.abs(distance - closed) <= 4 * np.sqrt((squares - closed**2) / repeats)).all()
    closed = np.mean([mean_distance(offset + 1e-9, a) for offset in offsets])
    assert totals.expected_distance_to_centroid == pytest.approx(closed, abs=4 * a / np.sqrt(repeats * len(forces)))
    assert totals.home == 1


# --- statistics by hand -----------------------------------------------------------------------------------------------

LINE = Descriptor(names=("place",), unit="m", low=(0.0,), high=(4.0,), over="last")


def by_hand() -> Repeats:
    """Four cells on a line, three elites, two repeats; one episode diverged, and one elite never ended well."""
    nan = np.nan
    return Repeats(
        space=LINE,
        centroids=np.array([[0.5], [1.5], [2.5], [3.5]], np.float32),
        cells=np.array([0, 1, 3]),
        stored_fitness=np.array([10, 20, 30], np.float32),
        stored_descriptor=np.array([[0.5], [1.25], [3.0]], np.float32),
        fitness=np.array([[4, 8, nan], [6, nan, nan]], np.float32),
        descriptor=np.array([[[1.0], [1.75], [nan]], [[2.0], [nan], [nan]]], np.float32),
        steps=np.array([[10, 20, 1], [30, 2, 1]], np.int32),
        done=6,
    )


def test_statistics_and_the_corrected_archive_by_hand():
    found = measure(by_hand())
    elites, totals = found.elites, found.elites_totals
    np.testing.assert_array_equal(elites.valid, [2, 1, 0])
    np.testing.assert_array_equal(elites.fitness_mean, [5, 8, np.nan])
    np.testing.assert_allclose(elites.fitness_deviation, [np.sqrt(2), np.nan, np.nan])
    np.testing.assert_array_equal(elites.descriptor_mean[:, 0], [1.5, 1.75, np.nan])
    np.testing.assert_array_equal(elites.distance_to_centroid, [1.0, 0.25, np.nan])
    np.testing.assert_array_equal(elites.distance_to_stored, [1.0, 0.5, np.nan])
    np.testing.assert_array_equal(elites.landing, [1, 1, -1])
    assert (found.stored.qd_score, found.stored.coverage, found.stored.max_fitness) == (60, 0.75, 30)
    assert (totals.expected_qd_score, totals.expected_max_fitness) == (13, 8)
    assert (totals.expected_distance_to_centroid, totals.expected_distance_to_stored) == (0.625, 0.75)
    assert (totals.episodes, totals.invalid, totals.steps, totals.policies) == (6, 3, 64, 3)
    assert totals.home == pytest.approx(1 / 3)
    # both land in cell 1, where the better stays
    np.testing.assert_array_equal(found.corrected.fitness, [-np.inf, 8, -np.inf, -np.inf])
    assert (totals.corrected_qd_score, totals.corrected_coverage, totals.corrected_max_fitness) == (8, 0.25, 8)
    assert found.actor is None


def test_only_repeats_that_all_have_done_are_measured():
    part = dataclasses.replace(by_hand(), done=5)
    assert part.whole == 1
    found = measure(part)
    np.testing.assert_array_equal(found.elites.fitness_mean, [4, 8, np.nan])
    assert found.elites_totals.repeats == 1
    with pytest.raises(ValueError, match="nothing to measure yet"):
        measure(dataclasses.replace(by_hand(), done=2))


def test_diverged_episodes_are_counted_and_left_out():
    repertoire = pushes(np.full((2, 2), HALF), np.array([(-1.0, 0), (1.0, 0)]), np.zeros((2, 2)))
    allowed = start_keys([int(start_seeds(0, 0, r)) for r in (0, 2)], 2)  # cell 0 alone, and half of the time
    with simulators.make(diverging(jnp.asarray(allowed)), "mujoco", 1) as simulator:
        *_, last = play(repertoire, unplayed(repertoire, 4, actor=False), simulator)
    found = measure(last)
    np.testing.assert_array_equal(found.elites.valid, [2, 0])
    assert found.elites_totals.invalid == 6
    assert found.elites_totals.expected_qd_score == pytest.approx(50 * (1 - 0.25 * 2 * HALF**2), rel=1e-5)
    assert np.isnan(found.elites.fitness_mean[1])
