"""Memory that is used again: never while anything refers to it."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dcrl import memory
from dcrl.archive import archive as archives

SHAPE = (1024, 1024 + 1)  # just above the size from which memory is used again


@pytest.fixture(autouse=True)
def nothing_kept():
    memory._free.clear()
    yield
    memory._free.clear()


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("small_pages", [False, True])
def test_memory_is_used_again_for_an_array_of_the_same_size(small_pages):
    first = memory.uninitialised(SHAPE, small_pages=small_pages)
    first[:] = 1
    where = address(first)
    del first
    again = memory.uninitialised(SHAPE[::-1], small_pages=small_pages)
    assert address(again) == where
    assert again.flags.writeable
    assert again.dtype == np.float32
    assert again.shape == SHAPE[::-1]


def test_memory_is_not_used_again_while_a_view_refers_to_it():
    first = memory.uninitialised(SHAPE)
    first[:] = 1
    view = first[5:7, ::2].T
    del first
    memory.uninitialised(SHAPE)[:] = 2
    assert (view == 1).all()


def test_other_sizes_and_other_pages_do_not_share_memory():
    where = address(memory.uninitialised(SHAPE))
    large, sparse = memory.uninitialised((2048, 2048)), memory.uninitialised(SHAPE, small_pages=True)
    assert where not in (address(large), address(sparse))
    assert address(memory.uninitialised(SHAPE)) == where


def test_small_arrays_and_more_blocks_than_are_kept_are_left_to_the_system():
    memory.uninitialised((10, 10))
    assert not memory._free
    many = [memory.uninitialised(SHAPE) for _ in range(memory.KEPT + 3)]
    del many
    assert len(memory._free) == memory.KEPT


def test_a_copy_has_the_same_content():
    original = np.random.default_rng(0).normal(size=SHAPE).astype(np.float32)
    assert (memory.copied(original) == original).all()


def test_threads_never_get_the_same_memory():
    def work(number):
        for _ in range(50):
            array = memory.uninitialised(SHAPE)
            array[::100] = number
            if not (array[::100] == number).all():
                return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(work, range(4)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")
def test_a_forked_process_does_not_write_into_its_parents_arrays():
    code = f"""
import os
from dcrl import memory
array = memory.uninitialised({SHAPE})
array[:] = 1
child = os.fork()
if not child:
    array[:] = 2
    os._exit(0)
os.waitpid(child, 0)
print(array.min(), array.max())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1.0", "1.0"]


def test_earlier_archives_keep_their_elites():
    parameters, cells = 5000, 256
    random = np.random.default_rng(0)
    centroids = random.random((cells, 2)).astype(np.float32)
    archive, kept = archives.empty(centroids, parameters), []
    for generation in range(4):
        genotype = np.full((64, parameters), generation, np.float32)
        fitness = random.random(64).astype(np.float32) + generation
        archive, _ = archives.add(archive, genotype, fitness, random.random((64, 2)).astype(np.float32))
        kept.append((archive, archive.genotype.tobytes()))
    assert all(archive.genotype.tobytes() == before for archive, before in kept)
    assert len({before for _, before in kept}) == len(kept)
