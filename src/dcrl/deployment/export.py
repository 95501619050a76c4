"""`dcrl.export`: a file that acts as an elite, a repertoire or an actor does, kept only if it really does."""

from __future__ import annotations

import hashlib
import importlib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from dcrl.deployment import arrays, contract, parity
from dcrl.files import free, read_tensors, write_bytes, write_json
from dcrl.repertoires.repertoire import Repertoire, load
from dcrl.repertoires.trust import check_task
from dcrl.tasks import registry
from dcrl.types import Floats

What = Literal["elite", "repertoire", "actor"]
Format = Literal["onnx", "npz"]

FROM_THE_RUN = ("algorithm", "seed", "generation", "evaluations")


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What was written, and how far it is from its source."""

    path: Path
    contract: Path
    largest_difference: float  # of any action, in its range of [-1, 1]


def export(
    repertoire: Repertoire | str | Path,
    path: str | Path,
    *,
    what: What = "elite",
    descriptor: ArrayLike | None = None,
    format: Format | None = None,
    overwrite: bool = False,
    trust_task: bool = False,
) -> Exported:
    """Write the elite nearest to `descriptor`, all elites, or the actor; the contract goes to `<path>.json`.

    `format` is told by the path's ending if it is not given. Before anything is written, 1,000 random
    observations (or 1,000 descriptors, with a few observations each) are run through the file and through the
    repertoire; a difference above 1e-5 is refused. A file's task of the form `file.py:object` or `module:object` is
    imported only with `trust_task`.
    """
    found = repertoire if isinstance(repertoire, Repertoire) else load(repertoire)
    about = {} if isinstance(repertoire, Repertoire) else _metadata(Path(repertoire))
    path, beside = Path(path), Path(f"{path}.json")
    chosen = _format(path, format)
    wanted = _check(found, what, descriptor)
    for file in (path, beside):
        free(file, overwrite=overwrite)
    check_task(found.task, "the repertoire", trust=trust_task)
    task = registry.get(found.task)
    if (found.layers.sizes[0], found.layers.sizes[-1]) != (task.observation_size, task.action_size):
        raise ValueError(
            f"the policies take {found.layers.sizes[0]} observations to {found.layers.sizes[-1]} actions, but the task "
            f"{found.task} now has {task.observation_size} and {task.action_size}; export with the task they came from"
        )
    maker = _graph() if chosen == "onnx" else arrays
    content = _content(found, what, wanted, maker)
    difference = _difference(found, what, wanted, maker.runner(content))
    agreement = {
        "contract": contract.FORMAT,
        "file": path.name,
        "format": chosen,
        "sha256": hashlib.sha256(content).hexdigest(),
        "what": what,
        "task": found.task,
        **{name: about.get(name) for name in FROM_THE_RUN},
        **contract.tensors(task, found.space, takes_descriptor=what != "elite"),
        **({"opset": maker.OPSET} if chosen == "onnx" else {"arrays": _shapes(content)}),
        "descriptor": contract.descriptor(found.space),
        "elite": None if wanted is None else _elite(found, wanted),
        **contract.robot(task),
        "parity": {
            "observations": parity.SAMPLES if what == "elite" else parity.SAMPLES * parity.BATCH,
            "descriptors": 0 if what == "elite" else parity.SAMPLES,
            "largest_absolute_difference": difference,
            "allowed": parity.TOLERANCE,
        },
        "versions": contract.versions(*(("onnx", "onnxruntime") if chosen == "onnx" else ()))
        | {"trained_with": about.get("version")},
    }
    _write(path, beside, content, agreement)
    return Exported(path=path, contract=beside, largest_difference=difference)


def _content(found: Repertoire, what: What, wanted: Floats | None, maker: ModuleType) -> bytes:
    if wanted is not None:
        content: bytes = maker.elite(found, int(found.nearest(wanted, 1)[0]))
    else:
        content = maker.actor(found) if what == "actor" else maker.repertoire(found)
    return content


def _difference(found: Repertoire, what: What, wanted: Floats | None, run: parity.Runner) -> float:
    """The largest difference between a file and its source, which is small enough."""
    size = found.layers.sizes[0]
    if wanted is not None:
        difference = parity.fixed_difference(run, found.policy_for(wanted), size)
    else:
        reference = found.actor if what == "actor" else found.policy_for
        difference = parity.chosen_difference(run, reference, size, found.space)
    if not difference <= parity.TOLERANCE:  # so that NaN is refused
        raise ValueError(
            f"the exported {what} differs from its source by {difference:.2g} on random observations, "
            f"and {parity.TOLERANCE:g} is allowed; nothing was written"
        )
    return difference


def _shapes(content: bytes) -> dict[str, list[int]]:
    return {name: list(array.shape) for name, array in arrays.read(content).items()}


def _elite(found: Repertoire, wanted: Floats) -> dict[str, Any]:
    """Which elite it is, and how near to what was asked for."""
    cell = int(found.nearest(wanted, 1)[0])
    return {
        "asked_for": wanted.tolist(),
        "descriptor": found.descriptor[cell].tolist(),
        "fitness": float(found.fitness[cell]),
        "cell": cell,
    }


def _graph() -> ModuleType:
    """The module that needs the optional packages."""
    try:
        return importlib.import_module("dcrl.deployment.graph")
    except ImportError as error:
        raise ValueError(
            f"ONNX files need the optional packages onnx and onnxruntime ({error}): "
            "pip install 'dcrl-map-elites[onnx]'; --format npz needs neither"
        ) from None


def _format(path: Path, format: Format | None) -> Format:
    chosen = path.suffix.removeprefix(".") if format is None else format
    for known in get_args(Format):
        if chosen == known:
            return cast(Format, known)
    raise ValueError(f"the format is onnx or npz, got {chosen!r}; end the file's name so, or name the format")


def _check(found: Repertoire, what: What, descriptor: ArrayLike | None) -> Floats | None:
    """The descriptor of the elite that is wanted; None for what takes it as an input. Refuses what is not there."""
    if what not in get_args(What):
        raise ValueError(f"what to export is one of {', '.join(get_args(What))}, got {what!r}")
    if what == "elite" and descriptor is None:
        raise ValueError(
            f"an elite is chosen by its descriptor: give {found.space.size} numbers ({', '.join(found.space.names)}) "
            f"from {found.space.low} to {found.space.high}"
        )
    if what != "elite" and descriptor is not None:
        raise ValueError(f"an exported {what} takes its descriptor as an input; only an elite is exported for one")
    if what == "actor":
        found.actor(found.space.low)
    elif not found.occupied.any():
        raise ValueError("the repertoire is empty")
    if descriptor is None:
        return None
    try:
        wanted = np.asarray(descriptor, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"a descriptor is {found.space.size} numbers, got {descriptor!r}") from None
    found.nearest(wanted, 1)  # refuses what does not fit
    return wanted


def _write(path: Path, beside: Path, content: bytes, agreement: dict[str, Any]) -> None:
    """Both files or neither."""
    try:
        write_bytes(path, content)
        try:
            write_json(beside, agreement)
        except OSError:
            path.unlink()
            raise
    except OSError as error:
        raise ValueError(f"{error}; choose another --output") from None


def _metadata(path: Path) -> dict[str, Any]:
    return read_tensors(path / "archive.safetensors" if path.is_dir() else path, ())[1]
