"""Damaged and hostile files: refused in one sentence, quickly, and without the memory that they claim."""

from __future__ import annotations

import dataclasses
import json
import re
import struct
import tracemalloc

import numpy as np
import pytest

import dcrl
import fuzz
from dcrl import files
from dcrl.networks.policies import Layers
from dcrl.repertoires.save import save
from fuzz import small
from mutations import header, with_header
from support.making import assert_same, refusal


@pytest.mark.parametrize("text", ["", "null", "[]", "3", '"x"', "{", "[" * 100_000, "9" * 5000, '{"format": 1'])
def test_metadata_that_is_no_object_is_refused(file, text):
    head, data = header(file.read_bytes())
    file.write_bytes(with_header(head | {"__metadata__": {"dcrl": text}}, data))
    assert re.search("metadata 'dcrl' is not valid JSON|metadata field 'format' is None", refusal(file))


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]},
        {"dtype": "F8_E4M3", "shape": [6], "data_offsets": [0, 6]},
        {"dtype": "F32", "shape": [2**62, 2**62], "data_offsets": [0, 6]},
        {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]},
        {"dtype": "BOOL", "shape": [6], "data_offsets": [6, 0]},
        {"dtype": "BOOL", "shape": [1] * 70 + [6], "data_offsets": [0, 6]},
        {"dtype": "BOOL", "shape": [6], "data_offsets": [0, 5]},
        {"dtype": "BOOL", "shape": [-6], "data_offsets": [0, 6]},
        {"dtype": "object", "shape": [6], "data_offsets": [0, 6]},
        {"dtype": "BOOL", "shape": "6", "data_offsets": [0, 6]},
        {"dtype": "BOOL"},
        None,
        [],
    ],
    ids=str,
)
def test_a_header_that_lies_is_refused_without_its_memory(file, entry):
    """The tensor `occupied` is 6 bytes; a header may claim anything about it."""
    head, data = header(file.read_bytes())
    first = head["occupied"]["data_offsets"][0]
    if entry and "data_offsets" in entry:
        entry = entry | {"data_offsets": [first + offset for offset in entry["data_offsets"]]}
    file.write_bytes(with_header(head | {"occupied": entry}, data))
    tracemalloc.start()
    refusal(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000  # whatever it claims


def test_a_tensor_of_no_bytes_and_a_huge_shape_is_refused(file):
    head, data = header(file.read_bytes())
    end = max(entry["data_offsets"][1] for name, entry in head.items() if name != "__metadata__")
    for shape in ([0, 2**62], [0, 2**40]):
        nothing = {"dtype": "F32", "shape": shape, "data_offsets": [end, end]}
        file.write_bytes(with_header(head | {"nothing": nothing}, data))
        assert re.search("tensor 'nothing'|is damaged", refusal(file))


@pytest.mark.parametrize("size", [2**20 + 1, 2**40, 2**63, 2**64 - 1])
def test_a_header_of_absurd_length_is_refused(file, size):
    file.write_bytes(struct.pack("<Q", size) + file.read_bytes()[8:])
    assert f"its header claims {size} bytes, expected at most 1048576" in refusal(file)


def test_occupied_is_0_or_1(file):
    head, data = header(file.read_bytes())
    metadata = json.loads(head["__metadata__"]["dcrl"])
    del metadata["checksum"]
    place = head["occupied"]["data_offsets"][0]
    changed = data[:place] + b"\x02" + data[place + 1 :]
    file.write_bytes(with_header(head | {"__metadata__": {"dcrl": json.dumps(metadata)}}, changed))
    assert "tensor 'occupied' holds a byte that is neither 0 nor 1" in refusal(file)


def test_the_checksum_covers_what_stays_plausible(file):
    tensors, metadata = files.read_tensors(file)
    tensors["genotype"][0, 0] += 1
    files.write_tensors(file, tensors, metadata)
    assert "is damaged" in refusal(file)
    tensors["genotype"][0, 0] = small().genotype[0, 0]
    metadata["descriptor"]["high"] = [1.0, 6.0]
    files.write_tensors(file, tensors, metadata)
    assert "is damaged" in refusal(file)
    metadata["descriptor"]["high"] = [1.0, 5.0]
    files.write_tensors(file, tensors, metadata)
    assert_same(dcrl.load(file), small())


def test_damaged_repertoires_load_as_they_were_or_are_refused(tmp_path):
    outcomes = fuzz.repertoires(tmp_path, 600, seed=1)
    assert outcomes["refused"] > 500
    assert outcomes["same"] > 0  # a digit that stayed the same, a space in the header's padding


def test_loading_takes_little_more_memory_than_the_file(tmp_path):
    path, cells = tmp_path / "archive.safetensors", 512
    random, layers = np.random.default_rng(0), Layers((20, 60, 4))
    big = dataclasses.replace(
        small(),
        layers=layers,
        centroids=random.uniform((-1, 0), (1, 5), (cells, 2)).astype(np.float32),
        occupied=np.ones(cells, bool),
        fitness=np.zeros(cells, np.float32),
        descriptor=np.zeros((cells, 2), np.float32),
        genotype=random.normal(size=(cells, layers.parameters)).astype(np.float32),
    )
    save(path, big)
    size = path.stat().st_size
    tracemalloc.start()
    assert_same(dcrl.load(path), big)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size > 3_000_000
    assert peak < 3 * size
