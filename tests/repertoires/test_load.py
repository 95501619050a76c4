"""Loading: what is saved is loaded, and what does not fit is refused in one sentence that names it."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as serialised

import dcrl
from dcrl import files
from dcrl.repertoires.load import outline
from dcrl.repertoires.save import save, save_actor
from fuzz import ACTOR, small
from support.making import assert_same, refusal

Tensors = dict[str, Any]
Metadata = dict[str, Any]


def test_what_is_saved_is_loaded(file):
    found = dcrl.load(file)
    assert_same(found, small())
    assert (found.algorithm, found.seed, found.evaluations) == ("me", 3, 40)
    content = file.read_bytes()
    save(file, found)
    assert file.read_bytes() == content


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
    (without("format"), "is not a dcrl file: its metadata field 'format' is None"),
    *(
        (field("format", wrong), "is not a dcrl file: its metadata field 'format' is")
        for wrong in (0, True, 1.0, "1", [1])
    ),
    *((field("task", wrong), "metadata field 'task' must be text") for wrong in (None, 3, "", ["a"], "\x1b[2J", {})),
    (field("layers", [3, 5, 2]), r"tensor 'genotype' must be float32 \(6, 32\), got float32 \(6, 26\)"),
    *(
        (field("layers", wrong), "metadata field 'layers' must be 2 to 64 whole numbers from 1 to 1,000,000")
        for wrong in (3, [], [3], [3, 0, 2], [3, -4, 2], [3, 4.0, 2], [True, 4, 2], ["3", 2], [3, 10**40], [1] * 65)
    ),
    (field("layers", [10**6] * 64), r"tensor 'genotype' must be float32 \(6, 63000063000000\)"),
    *((field("descriptor", wrong), "metadata field 'descriptor' must be an object") for wrong in (None, [], "x", 1)),
    (field("descriptor", {}), "lacks the metadata field 'descriptor.names'"),
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
    (field("cheksum", "0" * 64), "is damaged: it has a checksum, but no metadata field 'checksum'"),
    (field("checksum", "0" * 64), "is damaged: it does not match its metadata field 'checksum'"),
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
    assert_same(dataclasses.replace(found, genotype=whole.genotype), whole)
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
        (np.zeros(34), {"layers": (3, 4, 2)}, r"metadata field 'layers' must be \[5, 4, 2\] to fit the archive"),
        (np.zeros(34), {"layers": None}, "metadata field 'layers' must be 2 to 64 whole numbers"),
        (np.zeros(34), {"task": "ant_omni"}, "metadata field 'task' must be 'point' as in the archive, got"),
    ],
)
def test_another_archives_actor_is_refused(file, parameters, change, sentence):
    path = file.with_name("actor.safetensors")
    save_actor(path, parameters, actor_metadata() | change)
    with pytest.raises(ValueError, match=sentence) as caught:
        dcrl.load(file)
    assert "actor.safetensors" in str(caught.value)
