"""Centroids: within bounds, evenly spread, the same every time; a cache that is reused and never trusted blindly."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from dcrl.archive import centroids as module
from dcrl.archive.centroids import cache_directory, centroids, tessellate
from dcrl.types import Descriptor

PLANE = Descriptor(names=("x", "y"), unit="m", low=(-30.0, 0.0), high=(30.0, 1.0), over="last")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("DCRL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("dimensions", [1, 2, 4])
def test_centroids_lie_within_the_bounds(dimensions):
    low, high = np.arange(dimensions) - 3.5, np.arange(dimensions) * 7 + 1.0
    space = Descriptor(
        names=tuple("abcd"[:dimensions]), unit="", low=tuple(low), high=tuple(high), over="mean", clip=True
    )
    found = centroids(space, 64, 2000, 0)
    assert found.shape == (64, dimensions)
    assert found.dtype == np.float32
    assert (found > low).all()
    assert (found < high).all()
    np.testing.assert_allclose(found.mean(axis=0), (low + high) / 2, atol=0.05 * (high - low).max())


def test_cells_hold_about_equally_many_random_points():
    found = centroids(PLANE, 32, 5000, 0)
    random = np.random.default_rng(9).uniform(PLANE.low, PLANE.high, (20_000, 2))
    scaled = [(values - PLANE.low) / (np.array(PLANE.high) - PLANE.low) for values in (random, found)]
    nearest = np.argmin(((scaled[0][:, None] - scaled[1]) ** 2).sum(-1), axis=1)
    share = np.bincount(nearest, minlength=32) / 20_000 * 32
    assert 0.4 < share.min() <= share.max() < 2.0


def test_each_centroid_is_the_mean_of_its_samples():
    unit = tessellate(2, 16, 1000, seed=3)
    samples = np.random.default_rng(3).uniform(size=(1000, 2))
    nearest = np.argmin(((samples[:, None] - unit) ** 2).sum(-1), axis=1)
    means = [samples[nearest == cell].mean(axis=0) for cell in range(16)]
    np.testing.assert_allclose(unit, means, atol=0.02)  # k-means stops a little before it stands still


def test_equal_seeds_give_equal_centroids_and_others_do_not():
    np.testing.assert_array_equal(tessellate(2, 16, 500, seed=0), tessellate(2, 16, 500, seed=0))
    assert (tessellate(2, 16, 500, seed=0) != tessellate(2, 16, 500, seed=1)).any()


def test_the_cache_is_reused(cache, monkeypatch):
    first = centroids(PLANE, 16, 500, 0)
    (file,) = cache.iterdir()
    stored = np.load(file)
    np.testing.assert_array_equal(first, (PLANE.low + stored * (np.array(PLANE.high) - PLANE.low)).astype(np.float32))
    monkeypatch.setattr(module, "tessellate", None)  # computing again would raise
    np.testing.assert_array_equal(centroids(PLANE, 16, 500, 0), first)
    with pytest.raises(TypeError):
        centroids(PLANE, 16, 500, 1)


def saved(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


DAMAGE = {
    "empty": b"",
    "text": b"not an array",
    "a broken zip": b"PK\x03\x04 and no more",
    "truncated": saved(np.zeros((16, 2)))[:-40],
    "header only": saved(np.zeros((16, 2)))[:20],
    "another shape": saved(np.zeros((16, 3))),
    "another type": saved(np.full((16, 2), "a")),
    "not finite": saved(np.full((16, 2), np.nan)),
    "outside": saved(np.full((16, 2), 7.0)),
}


@pytest.mark.parametrize("content", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_cache_file_is_computed_again(cache, content):
    first = centroids(PLANE, 16, 500, 0)
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    file.write_bytes(content)
    np.testing.assert_array_equal(centroids(PLANE, 16, 500, 0), first)
    assert file.read_bytes() == whole
    assert list(cache.iterdir()) == [file]


def test_a_cache_that_cannot_be_written_is_done_without(cache, monkeypatch):
    first = centroids(PLANE, 16, 500, 0)
    in_the_way = cache.parent / "file"
    in_the_way.write_text("")
    monkeypatch.setenv("DCRL_CACHE", str(in_the_way / "cache"))
    np.testing.assert_array_equal(centroids(PLANE, 16, 500, 0), first)


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.delenv("DCRL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_directory() == tmp_path / "xdg" / "dcrl"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_directory() == tmp_path / "home" / ".cache" / "dcrl"


@pytest.mark.parametrize(("cells", "samples"), [(0, 10), (-1, 10), (11, 10)])
def test_impossible_numbers_are_refused(cells, samples):
    with pytest.raises(ValueError, match=f"got {cells} and {samples}"):
        centroids(PLANE, cells, samples, 0)
