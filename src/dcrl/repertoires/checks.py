"""Checks of a repertoire file: every metadata field and tensor that is used is checked first.

A file may come from anywhere, so nothing in it is trusted. Errors name the file and the field or tensor. Fields and
tensors that this version does not know are ignored.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcrl.networks.policies import Layers
from dcrl.types import Bools, Descriptor, Floats

TENSORS = ("centroids", "occupied", "fitness", "descriptor", "genotype")
ACTIVATION = "relu, then tanh"
TOLERANCE = 1e-3  # of the descriptor's range, for rounding
LARGEST = 1e30  # so that no range overflows float32
LAYERS, UNITS = 64, 1_000_000  # more than any policy has


@dataclass(frozen=True, kw_only=True)
class About:
    """The metadata that is used; the last three are None where a file does not have them."""

    task: str
    layers: Layers
    space: Descriptor
    algorithm: str | None
    seed: int | None
    evaluations: int | None


def about(where: object, metadata: Mapping[str, Any]) -> About:
    """The metadata of a file; errors call it `where`."""
    optional = {name: metadata.get(name) for name in ("algorithm", "seed", "evaluations")}
    for name, fits in (("algorithm", _is_text), ("seed", _is_count), ("evaluations", _is_count)):
        if optional[name] is not None and not fits(optional[name]):
            expected = "text" if fits is _is_text else "a whole number from 0"
            raise _wrong(where, name, expected, optional[name])
    activation = metadata.get("activation", ACTIVATION)
    if activation != ACTIVATION:
        raise _wrong(where, "activation", repr(ACTIVATION), activation)
    return About(
        task=_field(where, metadata, "task", _is_text, "text"),
        layers=layers(where, metadata),
        space=_space(where, _field(where, metadata, "descriptor", lambda value: isinstance(value, dict), "an object")),
        **optional,
    )


def layers(where: object, metadata: Mapping[str, Any]) -> Layers:
    """The layer sizes of the network."""
    expected = f"2 to {LAYERS} whole numbers from 1 to {UNITS:,}"
    return Layers(tuple(_field(where, metadata, "layers", _are_sizes, expected)))


def archive(where: object, tensors: Mapping[str, NDArray[Any]], network: Layers, space: Descriptor) -> None:
    """Refuse tensors that are not an archive of such policies in such a space."""
    outline(where, tensors, space)
    occupied: Bools = tensors["occupied"]
    genotype: Floats = tensors["genotype"]
    _expect(where, "genotype", genotype, "float32", (len(occupied), network.parameters))
    _finite(where, "genotype", genotype, occupied)
    _blank(where, "genotype", ~genotype[~occupied].any(axis=1), "0", occupied)


def outline(where: object, tensors: Mapping[str, NDArray[Any]], space: Descriptor) -> None:
    """The same without the policies."""
    centroids = tensors["centroids"]
    if centroids.ndim != 2 or not len(centroids):
        raise ValueError(f"{where}: tensor 'centroids' must be (cells, {space.size}), got {_kind(centroids)}")
    cells = len(centroids)
    for name, kind, shape in (
        ("centroids", "float32", (cells, space.size)),
        ("occupied", "bool", (cells,)),
        ("fitness", "float32", (cells,)),
        ("descriptor", "float32", (cells, space.size)),
    ):
        _expect(where, name, tensors[name], kind, shape)
    occupied: Bools = tensors["occupied"]
    if occupied.view(np.uint8).max() > 1:
        raise ValueError(f"{where}: tensor 'occupied' holds a byte that is neither 0 nor 1")
    _within(where, "centroids", centroids, np.ones(cells, bool), space)
    if len(np.unique(centroids, axis=0)) != cells:
        raise ValueError(f"{where}: tensor 'centroids' holds the same centroid twice")
    _finite(where, "fitness", tensors["fitness"], occupied)
    _within(where, "descriptor", tensors["descriptor"], occupied, space)
    _blank(where, "fitness", np.isnan(tensors["fitness"][~occupied]), "NaN", occupied)
    _blank(where, "descriptor", np.isnan(tensors["descriptor"][~occupied]).all(axis=1), "NaN", occupied)


def actor(where: object, parameters: NDArray[Any], metadata: Mapping[str, Any], expected: Layers, task: str) -> None:
    """Refuse an actor that does not belong to the archive in the same directory."""
    if metadata.get("task", task) != task:
        raise _wrong(where, "task", f"{task!r} as in the archive", metadata["task"])
    found = layers(where, metadata)
    if found != expected:
        raise _wrong(where, "layers", f"{list(expected.sizes)} to fit the archive", list(found.sizes))
    _expect(where, "parameters", parameters, "float32", (expected.parameters,))
    _finite(where, "parameters", parameters[None], np.ones(1, bool))


def _field(
    where: object, content: Mapping[str, Any], name: str, fits: Callable[[Any], bool], expected: str, within: str = ""
) -> Any:
    if name not in content:
        raise ValueError(f"{where} lacks the metadata field {within + name!r}")
    if not fits(content[name]):
        raise _wrong(where, within + name, expected, content[name])
    return content[name]


def _space(where: object, content: dict[str, Any]) -> Descriptor:
    def field(name: str, fits: Callable[[Any], bool], expected: str) -> Any:
        return _field(where, content, name, fits, expected, within="descriptor.")

    values = {"clip": False} | content
    if not isinstance(values["clip"], bool):
        raise _wrong(where, "descriptor.clip", "true or false", values["clip"])
    names = field("names", lambda value: _is_list(value, _is_text), "a list of texts")
    low, high = (
        tuple(map(float, field(name, lambda value: _is_list(value, _is_number), "a list of finite numbers")))
        for name in ("low", "high")
    )
    unit = field("unit", lambda value: isinstance(value, str) and value.isprintable(), "text")
    over = field("over", lambda value: value in ("mean", "last"), "'mean' or 'last'")
    try:
        return Descriptor(names=tuple(names), unit=unit, low=low, high=high, over=over, clip=values["clip"])
    except ValueError as error:
        raise ValueError(f"{where}: metadata field 'descriptor' does not fit: {error}") from None


def _is_text(value: Any) -> bool:
    """Not empty and printable: without control sequences for the terminal."""
    return isinstance(value, str) and value.isprintable() and bool(value)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < LARGEST


def _is_list(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and bool(value) and all(map(fits, value))


def _are_sizes(value: Any) -> bool:
    return _is_list(value, lambda size: type(size) is int and 1 <= size <= UNITS) and 2 <= len(value) <= LAYERS


def _wrong(where: object, field: str, expected: str, got: Any) -> ValueError:
    return ValueError(f"{where}: metadata field {field!r} must be {expected}, got {reprlib.repr(got)}")


def _kind(array: NDArray[Any]) -> str:
    return f"{array.dtype} {array.shape}"


def _expect(where: object, name: str, array: NDArray[Any], dtype: str, shape: tuple[int, ...]) -> None:
    if array.dtype != np.dtype(dtype) or array.shape != shape:
        raise ValueError(f"{where}: tensor {name!r} must be {dtype} {shape}, got {_kind(array)}")


def _finite(where: object, name: str, values: Floats, occupied: Bools) -> None:
    rows = values.reshape(len(values), -1)
    finite = np.isfinite(rows.min(axis=1)) & np.isfinite(rows.max(axis=1))  # NaN shows in both, infinity in one
    wrong = np.flatnonzero(occupied & ~finite)
    if len(wrong):
        raise ValueError(f"{where}: tensor {name!r} must be finite, but is not in row {wrong[0]}")


def _blank(where: object, name: str, holds: Any, expected: str, occupied: Bools) -> None:
    """Refuse an empty cell that is not blank; `holds` has one value per empty cell."""
    if not holds.all():
        wrong = np.flatnonzero(~occupied)[~holds][0]
        raise ValueError(f"{where}: tensor {name!r} must be {expected} in an empty cell, but is not in {wrong}")


def _within(where: object, name: str, values: Floats, occupied: Bools, space: Descriptor) -> None:
    _finite(where, name, values, occupied)
    low, high = np.asarray(space.low), np.asarray(space.high)
    slack = TOLERANCE * (high - low)
    with np.errstate(invalid="ignore"):
        inside = ((values >= low - slack) & (values <= high + slack)).all(axis=1)
    wrong = np.flatnonzero(occupied & ~inside)
    if len(wrong):
        raise ValueError(
            f"{where}: tensor {name!r} must lie from {reprlib.repr(space.low)} to {reprlib.repr(space.high)}, "
            f"but row {wrong[0]} is {reprlib.repr(values[wrong[0]].tolist())}"
        )
