"""Repertoire files: what is written is documented, and whatever is wrong in a file is refused in one sentence."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import struct
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as serialised

import dcrl
import fuzz
from dcrl import files
from dcrl.networks.policies import Layers
from dcrl.repertoires.load import outline
from dcrl.repertoires.save import save, save_actor
from fuzz import ACTOR, header, small, with_header

ARRAYS = ("centroids", "occupied", "fitness", "descriptor", "genotype")
DOCUMENT = Path(__file__).parents[2] / "docs" / "repertoire-file.md"

Tensors = dict[str, Any]
Metadata = dict[str, Any]


@pytest.fixture
def file(tmp_path) -> Path:
    save(tmp_path / "archive.safetensors", small())
    return tmp_path / "archive.safetensors"


def same(a: dcrl.Repertoire, b: dcrl.Repertoire) -> bool:
    """Bit for bit."""
    arrays = all(getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in ARRAYS)
    return arrays and (a.task, a.layers, a.space) == (b.task, b.layers, b.space)


def refusal(path: Path) -> str:
    """The one sentence; it names the file."""
    with pytest.raises(ValueError) as caught:
        dcrl.load(path)
    assert type(caught.value) is ValueError
    sentence = str(caught.value)
    assert str(path.name) in sentence
    assert "\n" not in sentence
    assert len(sentence) < 600
    return sentence


def test_what_is_saved_is_loaded(file):
    found = dcrl.load(file)
    assert same(found, small())
    assert (found.algorithm, found.seed, found.evaluations) == ("me", 3, 40)
    content = file.read_bytes()
    save(file, found)
    assert file.read_bytes() == content


def test_a_file_without_a_checksum_is_accepted_if_it_is_valid(file):
    tensors, metadata = files.read_tensors(file)
    del metadata["checksum"], metadata["algorithm"], metadata["seed"], metadata["evaluations"], metadata["activation"]
    files.write_tensors(file, tensors, metadata)
    found = dcrl.load(file)
    assert same(found, small())
    assert (found.algorithm, found.seed, found.evaluations) == (None, None, None)


def put(name: str, where: Any, value: Any) -> Callable[[Tensors, Metadata], None]:
    def change(tensors: Tensors, metadata: Metadata) -> None:
        tensors[name] = tensors[name].copy()
        tensors[name][where] = value

    return change


def cast(name: str, dtype: Any) -> Callable[[Tensors, Metadata], None]:
    def change(tensors: Tensors, metadata: Metadata) -> None:
        with np.errstate(invalid="ignore"):
            tensors[name] = tensors[name].astype(dtype)

    return change


def shaped(name: str, *shape: int) -> Callable[[Tensors, Metadata], None]:
    return lambda tensors, metadata: tensors.update({name: np.zeros(shape, tensors[name].dtype)})


def field(name: str, value: Any) -> Callable[[Tensors, Metadata], None]:
    return lambda tensors, metadata: metadata.update({name: value})


def space(name: str, value: Any) -> Callable[[Tensors, Metadata], None]:
    return lambda tensors, metadata: metadata["descriptor"].update({name: value})


def without(name: str) -> Callable[[Tensors, Metadata], None]:
    return lambda tensors, metadata: metadata.pop(name)


REFUSALS = [
    (cast("fitness", bool), r"tensor 'fitness' must be float32 \(6,\), got bool \(6,\)"),
    (cast("fitness", np.float64), r"tensor 'fitness' must be float32 \(6,\), got float64"),
    (cast("occupied", np.uint8), r"tensor 'occupied' must be bool \(6,\), got uint8"),
    (cast("genotype", np.float16), "tensor 'genotype' must be float32"),
    (cast("genotype", np.complex64), "tensor 'genotype' must be float32"),
    (shaped("fitness", 6, 1), r"tensor 'fitness' must be float32 \(6,\), got float32 \(6, 1\)"),
    (shaped("fitness", 5), "tensor 'fitness' must be"),
    (shaped("centroids", 6), r"tensor 'centroids' must be \(cells, 2\), got float32 \(6,\)"),
    (shaped("centroids", 0, 2), r"tensor 'centroids' must be \(cells, 2\), got float32 \(0, 2\)"),
    (shaped("centroids", 6, 3), r"tensor 'centroids' must be float32 \(6, 2\), got float32 \(6, 3\)"),
    (shaped("descriptor", 2, 6), "tensor 'descriptor' must be"),
    (shaped("genotype", 6, 27), r"tensor 'genotype' must be float32 \(6, 26\), got float32 \(6, 27\)"),
    (shaped("genotype"), "tensor 'genotype' must be"),
    (put("fitness", 0, np.nan), "tensor 'fitness' must be finite, but is not in row 0"),
    (put("fitness", 2, np.inf), "tensor 'fitness' must be finite, but is not in row 2"),
    (put("genotype", (3, 7), -np.inf), "tensor 'genotype' must be finite, but is not in row 3"),
    (put("descriptor", (5, 1), np.nan), "tensor 'descriptor' must be finite, but is not in row 5"),
    (put("descriptor", (2, 0), 1.003), r"tensor 'descriptor' must lie from \(-1.0, 0.0\) to .* but row 2 is \[1.003"),
    (put("descriptor", (2, 1), -0.006), "tensor 'descriptor' must lie"),
    (put("centroids", (1, 0), np.nan), "tensor 'centroids' must be finite, but is not in row 1"),
    (put("centroids", (1, 0), 7), "tensor 'centroids' must lie"),
    (put("centroids", slice(None), 0.5), "tensor 'centroids' holds the same centroid twice"),
    (put("fitness", 1, 0), "tensor 'fitness' must be NaN in an empty cell, but is not in 1"),
    (put("descriptor", (4, 0), 0), "tensor 'descriptor' must be NaN in an empty cell, but is not in 4"),
    (put("genotype", (4, 0), 1), "tensor 'genotype' must be 0 in an empty cell, but is not in 4"),
    (put("genotype", (4, 0), np.nan), "tensor 'genotype' must be 0 in an empty cell"),
    (lambda tensors, metadata: tensors.pop("fitness"), "lacks the tensor 'fitness'"),
    *((without(name), f"lacks the metadata field '{name}'") for name in ("task", "layers", "descriptor")),
    (without("format"), "no dcrl file of format 1; its metadata field 'format' is None"),
    *((field("format", wrong), "no dcrl file of format 1") for wrong in (2, True, 1.0, "1", [1])),
    *((field("task", wrong), "metadata field 'task' must be text") for wrong in (None, 3, "", ["a"], "\x1b[2J", {})),
    (field("layers", [3, 5, 2]), r"tensor 'genotype' must be float32 \(6, 32\), got float32 \(6, 26\)"),
    *(
        (field("layers", wrong), "metadata field 'layers' must be 2 to 64 whole numbers from 1 to 1,000,000")
        for wrong in (3, [], [3], [3, 0, 2], [3, -4, 2], [3, 4.0, 2], [True, 4, 2], ["3", 2], [3, 10**40], [1] * 65)
    ),
    (field("layers", [10**6] * 64), r"tensor 'genotype' must be float32 \(6, 63000063000000\)"),
    *((field("descriptor", wrong), "metadata field 'descriptor' must be an object") for wrong in (None, [], "x", 1)),
    (field("descriptor", {}), "lacks the metadata field 'descriptor.names'"),
    (space("colour", 1), "metadata field 'descriptor.colour' is unknown"),
    *(
        (space("names", wrong), "metadata field 'descriptor.names' must be")
        for wrong in ("xy", [1, 2], [], ["x", "\n"])
    ),
    *((space("low", w), "metadata field 'descriptor.low' must be") for w in (0, ["0", 0], [False, 0], [np.nan, 0])),
    *((space("high", w), "metadata field 'descriptor.high' must be") for w in ([np.inf, 5], [10**400, 5], [[1], 5])),
    (space("high", [-2, 5]), "metadata field 'descriptor' does not fit: descriptor bounds must be finite with low < "),
    (space("high", [1]), "metadata field 'descriptor' does not fit: a descriptor needs one name, one low"),
    (space("unit", 3), "metadata field 'descriptor.unit' must be text"),
    *((space("over", wrong), "metadata field 'descriptor.over' must be") for wrong in ("sum", None, [])),
    (space("clip", 1), "metadata field 'descriptor.clip' must be true or false"),
    (space("names", ["x", "y", "z"]), "metadata field 'descriptor' does not fit"),
    (field("activation", "gelu"), "metadata field 'activation' must be 'relu, then tanh', got 'gelu'"),
    *((field("seed", wrong), "metadata field 'seed' must be a whole number from 0") for wrong in (-1, 1.5, "0", True)),
    (field("evaluations", {}), "metadata field 'evaluations' must be a whole number from 0"),
    (field("algorithm", 1), "metadata field 'algorithm' must be text"),
    (field("cheksum", "0" * 64), "metadata field 'cheksum' is unknown"),
    (field("checksum", "0" * 64), "is damaged: it does not fit its metadata field 'checksum'"),
    (field("checksum", None), "is damaged"),
]


@pytest.mark.parametrize(("change", "sentence"), REFUSALS, ids=range(len(REFUSALS)))
def test_what_does_not_fit_is_named(file, change, sentence):
    tensors, metadata = files.read_tensors(file)
    del metadata["checksum"]
    change(tensors, metadata)
    head = {"dcrl": json.dumps(metadata)}
    file.write_bytes(serialised({name: np.asarray(array, order="C") for name, array in tensors.items()}, metadata=head))
    assert re.search(sentence, refusal(file))
    if "genotype" in sentence or "is damaged" in sentence:
        assert outline(file).genotype.shape == (6, 0)  # it does not look
    else:
        with pytest.raises(ValueError, match=sentence):
            outline(file)


def test_an_outline_has_all_but_the_policies(file):
    save_actor(file.with_name("actor.safetensors"), np.zeros(ACTOR.parameters), actor_metadata())
    whole, found = dcrl.load(file.parent), outline(file.parent)
    np.testing.assert_array_equal(found.actor_parameters, whole.actor_parameters)
    assert same(dataclasses.replace(found, genotype=whole.genotype), whole)
    assert (found.algorithm, found.seed, found.evaluations) == ("me", 3, 40)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match="cannot read"):
        outline(file)


def test_a_descriptor_a_little_outside_is_rounding(file):
    tensors, metadata = files.read_tensors(file)
    del metadata["checksum"]
    tensors["descriptor"][2] = [1.0019, -0.0049]
    files.write_tensors(file, tensors, metadata)
    np.testing.assert_array_equal(dcrl.load(file).descriptor[2], np.array([1.0019, -0.0049], np.float32))


@pytest.mark.parametrize("text", ["", "null", "[]", "3", '"x"', "{", "[" * 100_000, "9" * 5000, '{"format": 1'])
def test_metadata_that_is_no_object_is_refused(file, text):
    head, data = header(file.read_bytes())
    file.write_bytes(with_header(head | {"__metadata__": {"dcrl": text}}, data))
    assert re.search("metadata 'dcrl' is no JSON document|metadata field 'format' is None", refusal(file))


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
    assert same(dcrl.load(file), small())


def actor_metadata() -> Metadata:
    return {"task": "point", "layers": ACTOR.sizes}


def test_an_actor_belongs_to_its_archive(file):
    path = file.with_name("actor.safetensors")
    parameters = np.arange(ACTOR.parameters, dtype=np.float32)
    save_actor(path, parameters, actor_metadata())
    np.testing.assert_array_equal(dcrl.load(file).actor_parameters, parameters)
    np.testing.assert_array_equal(dcrl.load(file.parent).actor_parameters, parameters)
    other = file.with_name("merged.safetensors")
    save(other, small())
    assert dcrl.load(other).actor_parameters is None


@pytest.mark.parametrize(
    ("parameters", "change", "sentence"),
    [
        (np.zeros(33), {}, r"tensor 'parameters' must be float32 \(34,\), got float32 \(33,\)"),
        (np.zeros((1, 34)), {}, "tensor 'parameters' must be"),
        (np.full(34, np.nan), {}, "tensor 'parameters' must be finite"),
        (np.zeros(34), {"layers": (3, 4, 2)}, r"metadata field 'layers' must be \[5, 4, 2\] to fit the archive beside"),
        (np.zeros(34), {"layers": None}, "metadata field 'layers' must be 2 to 64 whole numbers"),
        (np.zeros(34), {"colour": "red"}, "metadata field 'colour' is unknown"),
        (np.zeros(34), {"task": "ant_omni"}, "metadata field 'task' must be 'point' as the archive's beside it, got"),
    ],
)
def test_another_archives_actor_is_refused(file, parameters, change, sentence):
    path = file.with_name("actor.safetensors")
    save_actor(path, parameters, actor_metadata() | change)
    with pytest.raises(ValueError, match=sentence) as caught:
        dcrl.load(file)
    assert "actor.safetensors" in str(caught.value)


def test_damaged_repertoires_load_as_they_were_or_are_refused(tmp_path):
    outcomes = fuzz.repertoires(tmp_path, 600, seed=1)
    assert outcomes["refused"] > 500
    assert outcomes["same"] > 0  # a digit that stayed the same, a space in the header's padding


@pytest.mark.parametrize("name", ["dcrl_me", "me_es"])
def test_damaged_checkpoints_load_as_they_were_or_are_refused(name, tmp_path):
    outcomes = fuzz.checkpoints(tmp_path / "checkpoints", name, 150, seed=1)
    assert outcomes["refused"] > 120
    assert outcomes["same"] > 0


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
    assert same(dcrl.load(path), big)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size > 3_000_000
    assert peak < 3 * size


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
