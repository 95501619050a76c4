"""The file format: as documented, read by later versions, and open to fields that this version does not know."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import dcrl
from dcrl import files
from dcrl.version import __version__
from fuzz import small
from mutations import header
from support.making import FORMAT_1, assert_same, refusal

DOCUMENT = Path(__file__).parents[2] / "docs" / "repertoire-file.md"


def test_a_file_of_the_first_format_loads():
    """Written by the commit that its manifest names; see tests/runs/test_old_runs.py."""
    found, stored = dcrl.load(FORMAT_1), load_file(FORMAT_1 / "archive.safetensors")
    assert (found.task, found.algorithm, found.seed, found.evaluations) == ("point_omni", "dcrl_me", 0, 32)
    assert (found.layers.sizes, found.actor_layers.sizes) == ((5, 4, 4, 2), (7, 4, 4, 2))
    assert (found.space.names, found.space.low, found.space.high) == (("final x", "final y"), (-3, -3), (3, 3))
    assert np.flatnonzero(found.occupied).tolist() == np.flatnonzero(stored["occupied"]).tolist() != []
    for name in ("centroids", "fitness", "descriptor", "genotype"):
        np.testing.assert_array_equal(getattr(found, name), stored[name])
    np.testing.assert_array_equal(found.actor_parameters, load_file(FORMAT_1 / "actor.safetensors")["parameters"])
    assert found.actor([1, 1])(np.zeros(5)).shape == (2,)


def test_what_a_later_version_adds_is_ignored(file):
    tensors, metadata = files.read_tensors(file)
    metadata |= {"colour": "red", "version": "7.1.0", "descriptor": metadata["descriptor"] | {"labels": ["a", "b"]}}
    for own_checksum in (True, False):
        del metadata["checksum"]
        files.write_tensors(file, tensors | {"novelty": np.zeros(6)}, metadata, own_checksum=own_checksum)
        assert_same(dcrl.load(file), small())
        metadata = files.read_tensors(file)[1] | {"checksum": ""}


@pytest.mark.parametrize(
    ("writer", "named"), [("7.1.0", "dcrl 7.1.0"), (None, "a later version"), ("\x1b[2J", "a later version")]
)
def test_a_file_of_a_later_format_is_refused_with_both_versions(file, writer, named):
    tensors, metadata = files.read_tensors(file)
    files.write_tensors(file, tensors, metadata | {"format": 2, "version": writer})
    assert f"has format 2, written by {named}; dcrl {__version__} reads format 1: install a later" in refusal(file)


def test_a_file_without_a_checksum_is_accepted_if_it_is_valid(file):
    tensors, metadata = files.read_tensors(file)
    del metadata["checksum"], metadata["algorithm"], metadata["seed"], metadata["evaluations"], metadata["activation"]
    files.write_tensors(file, tensors, metadata)
    found = dcrl.load(file)
    assert_same(found, small())
    assert (found.algorithm, found.seed, found.evaluations) == (None, None, None)


def test_the_documented_reader_reads_the_file(file):
    code = re.search(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)[1]
    code += "\nassert not {'jax', 'safetensors', 'dcrl'} & set(sys.modules)\n"
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    expected = small()
    best = int(np.nanargmax(expected.fitness))
    cell, fitness, descriptor = first.split(" ", 2)
    assert (int(cell), np.float32(fitness)) == (best, expected.fitness[best])
    np.testing.assert_array_equal(np.array(json.loads(descriptor), np.float32), expected.descriptor[best])
    np.testing.assert_allclose(json.loads(second), expected.policy(best)(np.ones(3)), atol=1e-6)


def test_the_documented_checksum_is_the_one_written(file):
    """Computed from the page's words alone."""
    head, data = header(file.read_bytes())
    metadata = json.loads(head.pop("__metadata__")["dcrl"])
    written = metadata.pop("checksum")
    digest = hashlib.sha256()
    for name in sorted(head):
        dtype = {"F32": "float32", "BOOL": "bool"}[head[name]["dtype"]]
        first, end = head[name]["data_offsets"]
        digest.update(f'"{name}" {dtype} {head[name]["shape"]}\n'.encode() + data[first:end])
    digest.update(json.dumps(metadata, sort_keys=True).encode())
    assert digest.hexdigest() == written
