"""The archive's laws, its values against brute force, and the same stream into pyribs' CVT archive."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from ribs.archives import CVTArchive
from scipy.stats import chisquare

from dcrl import keys
from dcrl.archive import archive as archives
from dcrl.archive.archive import Archive, add, empty
from dcrl.archive.cells import cell_of
from dcrl.archive.selection import select

LINE = np.array([[0.0], [1.0], [2.0]], np.float32)  # three cells whose borders are 0.5 and 1.5


def points(random: np.random.Generator, count: int, dimensions: int = 2) -> np.ndarray:
    return random.uniform(-1, 1, (count, dimensions)).astype(np.float32)


def offspring(random: np.random.Generator, count: int, dimensions: int = 2) -> tuple[np.ndarray, ...]:
    genotype = random.normal(size=(count, 4)).astype(np.float32)
    return genotype, random.normal(size=count).astype(np.float32), points(random, count, dimensions)


def arrays(archive: Archive) -> tuple[np.ndarray, ...]:
    return archive.fitness, archive.descriptor, archive.genotype


def assert_same(a: Archive, b: Archive) -> None:
    for one, other in zip(arrays(a), arrays(b), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dimensions", [1, 2, 4])
def test_a_descriptor_belongs_to_its_nearest_centroid(dimensions):
    random = np.random.default_rng(dimensions)
    centroids, descriptors = points(random, 200, dimensions), points(random, 500, dimensions)
    expected = []
    for descriptor in descriptors:
        squares = [sum((float(a) - float(b)) ** 2 for a, b in zip(descriptor, c, strict=True)) for c in centroids]
        expected.append(squares.index(min(squares)))
    np.testing.assert_array_equal(cell_of(centroids, descriptors), expected)


def test_between_two_centroids_the_lower_index_wins():
    np.testing.assert_array_equal(cell_of(LINE, np.array([[0.5], [1.5], [-9.0]], np.float32)), [0, 1, 0])
    np.testing.assert_array_equal(cell_of(LINE[::-1], np.array([[0.5], [1.5]], np.float32)), [1, 0])


def test_additions_by_hand():
    archive = empty(LINE, 1)
    assert (archive.qd_score, archive.coverage) == (0.0, 0.0)
    assert np.isnan(archive.max_fitness)
    genotype = np.arange(1, 6, dtype=np.float32)[:, None]
    archive, first = add(archive, genotype, np.array([3, 5, 5, -2, 4.0]), np.array([[0.1], [0.2], [0.3], [2], [-1]]))
    np.testing.assert_array_equal(first.added, [False, True, False, True, False])  # the first of the two fives
    np.testing.assert_array_equal(first.improvement, [0, 5, 0, -2, 0])
    np.testing.assert_array_equal(archive.fitness, [5, -np.inf, -2])
    np.testing.assert_array_equal(archive.genotype[:, 0], [2, 0, 4])
    np.testing.assert_array_equal(archive.descriptor[:, 0], np.array([0.2, np.nan, 2], np.float32))
    np.testing.assert_array_equal(archive.occupied, [True, False, True])
    assert (archive.qd_score, archive.coverage, archive.max_fitness) == (3.0, pytest.approx(2 / 3), 5.0)

    archive, second = add(archive, genotype[:3], np.array([5, 1.5, 0.5]), np.array([[0.0], [1.0], [2.2]]))
    np.testing.assert_array_equal(second.added, [False, True, True])  # 5 is no better than the elite's 5
    np.testing.assert_array_equal(second.improvement, [0, 1.5, 2.5])
    np.testing.assert_array_equal(archive.fitness, [5, 1.5, 0.5])
    assert archive.genotype[0, 0] == 2


def test_an_elites_fitness_never_falls_and_improvements_add_up():
    random = np.random.default_rng(0)
    archive = empty(points(random, 40), 4)
    gained = 0.0
    for _ in range(60):
        genotype, fitness, descriptor = offspring(random, int(random.integers(1, 30)))
        fitness[random.random(len(fitness)) < 0.1] = np.nan
        before = archive
        archive, addition = add(before, genotype, fitness, descriptor)
        assert (archive.fitness >= before.fitness).all()
        assert (addition.improvement[~addition.added] == 0).all()
        gained += addition.improvement.sum()
        assert gained == pytest.approx(archive.qd_score, abs=1e-9)
        changed = archive.fitness != before.fitness
        assert addition.added.sum() == changed.sum()
        # every elite lies in its own cell and is one of the offspring, whole
        cells = np.flatnonzero(archive.occupied)
        np.testing.assert_array_equal(cell_of(archive.centroids, archive.descriptor[cells]), cells)
        for cell in np.flatnonzero(changed):
            (row,) = np.flatnonzero(addition.added & (cell_of(archive.centroids, descriptor) == cell))
            np.testing.assert_array_equal(archive.genotype[cell], genotype[row])
            np.testing.assert_array_equal(archive.descriptor[cell], descriptor[row])
            assert archive.fitness[cell] == fitness[row]
    assert archive.coverage > 0.9


def test_the_order_of_a_batch_does_not_matter():
    random = np.random.default_rng(1)
    for _ in range(20):
        archive, _ = add(empty(points(random, 20), 4), *offspring(random, 15))
        batch = offspring(random, 80)
        order = random.permutation(80)
        expected, addition = add(archive, *batch)
        shuffled, other = add(archive, *(part[order] for part in batch))
        assert_same(expected, shuffled)
        np.testing.assert_array_equal(other.added, addition.added[order])
        np.testing.assert_array_equal(other.improvement, addition.improvement[order])


def test_a_tie_goes_to_the_lowest_index():
    random = np.random.default_rng(2)
    for _ in range(20):
        archive = empty(points(random, 10), 4)
        genotype, _, descriptor = offspring(random, 50)
        fitness = random.integers(0, 3, 50).astype(np.float32)
        _, addition = add(archive, genotype, fitness, descriptor)
        cells = cell_of(archive.centroids, descriptor)
        for cell in np.unique(cells):
            inside = np.flatnonzero(cells == cell)
            best = inside[fitness[inside] == fitness[inside].max()][0]
            assert addition.added[inside].sum() == 1
            assert addition.added[best]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("part", [0, 1, 2], ids=["genotype", "fitness", "descriptor"])
def test_what_is_not_finite_never_enters(bad, part):
    random = np.random.default_rng(3)
    batch = offspring(random, 12)
    batch[part].reshape(12, -1)[::2, -1] = bad
    archive, addition = add(empty(points(random, 30), 4), *batch)
    assert not addition.added[::2].any()
    assert addition.added.any()
    assert (addition.improvement[::2] == 0).all()
    expected, _ = add(empty(archive.centroids, 4), *(values[1::2] for values in batch))
    assert_same(archive, expected)


def test_a_batch_of_nothing_finite_changes_nothing():
    random = np.random.default_rng(4)
    archive, _ = add(empty(points(random, 10), 4), *offspring(random, 20))
    genotype, fitness, descriptor = offspring(random, 6)
    after, addition = add(archive, genotype, np.full_like(fitness, np.nan), np.full_like(descriptor, np.nan))
    assert_same(archive, after)
    assert not addition.added.any()
    assert not addition.improvement.any()


def test_adding_leaves_the_old_archive_as_it_was():
    random = np.random.default_rng(5)
    archive, _ = add(empty(points(random, 10), 4), *offspring(random, 8))
    copies = [part.copy() for part in arrays(archive)]
    for part in (*arrays(archive), archive.centroids):
        part.flags.writeable = False  # writing would raise
    batch = offspring(random, 30)
    added, _ = add(archive, *batch)
    for part, copy in zip(arrays(archive), copies, strict=True):
        np.testing.assert_array_equal(part, copy)
    for new in arrays(added):
        assert not any(np.shares_memory(new, old) for old in (*arrays(archive), *batch))
    with pytest.raises(dataclasses.FrozenInstanceError):
        archive.fitness = copies[0]


def test_selection_is_uniform_over_the_occupied_cells():
    random = np.random.default_rng(6)
    archive, _ = add(empty(points(random, 64), 4), *offspring(random, 40))
    occupied = np.flatnonzero(archive.occupied)
    assert 10 < len(occupied) < 40
    drawn = select(archive, keys.root(0), 20_000)
    counts = np.bincount(drawn, minlength=64)
    assert (counts[~archive.occupied] == 0).all()
    assert chisquare(counts[occupied]).pvalue > 1e-3
    pairs = np.bincount(64 * drawn[::2] + drawn[1::2], minlength=64 * 64).reshape(64, 64)[np.ix_(occupied, occupied)]
    assert chisquare(pairs.reshape(-1)).pvalue > 1e-3  # one draw says nothing about the next
    np.testing.assert_array_equal(select(archive, keys.root(0), 20_000), drawn)
    assert (select(archive, keys.root(1), 20_000) != drawn).any()


def test_nothing_can_be_selected_from_an_empty_archive():
    with pytest.raises(ValueError, match="archive without elites"):
        select(empty(LINE, 1), keys.root(0), 3)


def test_the_same_stream_leaves_the_same_elites_as_in_pyribs():
    random = np.random.default_rng(7)
    centroids = points(random, 256)
    ours = empty(centroids, 3)
    theirs = CVTArchive(solution_dim=3, centroids=centroids, ranges=[(-1, 1)] * 2, dtype=np.float32)
    for _ in range(100):
        genotype = random.normal(size=(200, 3)).astype(np.float32)
        fitness, descriptor = random.normal(size=200).astype(np.float32), points(random, 200)
        ours, addition = add(ours, genotype, fitness, descriptor)
        theirs.add(genotype, fitness, descriptor)
        assert addition.added.sum() <= 200
    elites = theirs.data()
    order = np.argsort(elites["index"])
    cells = elites["index"][order]
    assert len(cells) > 250
    np.testing.assert_array_equal(np.flatnonzero(ours.occupied), cells)
    np.testing.assert_array_equal(ours.fitness[cells], elites["objective"][order])
    np.testing.assert_array_equal(ours.descriptor[cells], elites["measures"][order])
    np.testing.assert_array_equal(ours.genotype[cells], elites["solution"][order])
    assert ours.qd_score == pytest.approx(float(theirs.stats.qd_score), rel=1e-5)
    assert ours.coverage == pytest.approx(theirs.stats.coverage)
    assert archives.cell_of(centroids, elites["measures"][order]).tolist() == cells.tolist()
