"""`dcrl.export`: elites, repertoires and actors as files for other programs, written only if their actions match."""

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
from dcrl.repertoires.choice import choose
from dcrl.repertoires.load import archive_file, load
from dcrl.repertoires.policy import Policy
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.trust import usable_task
from dcrl.tasks import registry

What = Literal["elite", "repertoire", "actor"]
Format = Literal["onnx", "npz"]

FROM_THE_RUN = ("algorithm", "seed", "generation", "evaluations")


@dataclass(frozen=True, kw_only=True)
class Exported:
    """The files written, and the largest difference from the repertoire."""

    path: Path
    contract: Path
    policy: Policy | None  # the elite, if one was exported
    largest_difference: float  # of any action, in its range of [-1, 1]


def export(
    repertoire: Repertoire | str | Path,
    path: str | Path,
    *,
    what: What = "elite",
    descriptor: ArrayLike | None = None,
    cell: int | None = None,
    format: Format | None = None,
    overwrite: bool = False,
    task: str | None = None,
    trust_task: bool = False,
) -> Exported:
    """Write one elite, all elites, or the actor to `path`, and the contract to `<path>.json`.

    The elite is the one nearest to `descriptor`, the one of `cell`, or the fittest. `format` is derived from the
    path's suffix if it is not given. Before anything is written, 1,000 random observations (or 1,000 random
    descriptors with a few observations each) are run through the file and through the repertoire; a difference
    above 1e-5 is refused. A task of the form `file.py:object` or `module:object` is imported only with `trust_task`,
    if this user has used the same file before, or if `task` names it.
    """
    found = repertoire if isinstance(repertoire, Repertoire) else load(repertoire)
    about = {name: getattr(found, name, None) for name in FROM_THE_RUN}
    if not isinstance(repertoire, Repertoire):
        about |= read_tensors(archive_file(repertoire))[1]
    path, contract_path = Path(path), Path(f"{path}.json")
    chosen = _format(path, format)
    policy = _policy(found, what, descriptor, cell)
    for file in (path, contract_path):
        free(file, overwrite=overwrite)
    run = "the repertoire" if isinstance(repertoire, Repertoire) else repertoire
    known = registry.get(usable_task(found.task, run, given=task, trusted=trust_task))
    if (found.layers.sizes[0], found.layers.sizes[-1]) != (known.observation_size, known.action_size):
        raise ValueError(
            f"the policies take {found.layers.sizes[0]} observations to {found.layers.sizes[-1]} actions, but the task "
            f"{task or found.task} now has {known.observation_size} and {known.action_size}; "
            "export with the task they came from"
        )
    maker = _graph() if chosen == "onnx" else arrays
    content = _content(found, what, policy, maker)
    difference = _difference(found, what, policy, maker.runner(content))
    terms = {
        "contract": contract.FORMAT,
        "file": path.name,
        "format": chosen,
        "sha256": hashlib.sha256(content).hexdigest(),
        "what": what,
        "task": found.task,
        **{name: about.get(name) for name in FROM_THE_RUN},
        **contract.tensors(known, found.space, takes_descriptor=what != "elite"),
        **({"opset": maker.OPSET} if chosen == "onnx" else {"arrays": _shapes(content)}),
        "descriptor": contract.descriptor(found.space),
        "elite": None if policy is None else _elite(policy, descriptor),
        **contract.robot(known),
        "parity": {
            "observations": parity.SAMPLES if what == "elite" else parity.SAMPLES * parity.BATCH,
            "descriptors": 0 if what == "elite" else parity.SAMPLES,
            "largest_absolute_difference": difference,
            "allowed": parity.TOLERANCE,
        },
        "versions": contract.versions(*(("onnx", "onnxruntime") if chosen == "onnx" else ()))
        | {"trained_with": about.get("version")},
    }
    _write(path, contract_path, content, terms)
    return Exported(path=path, contract=contract_path, policy=policy, largest_difference=difference)


def _policy(found: Repertoire, what: What, descriptor: ArrayLike | None, cell: int | None) -> Policy | None:
    """The elite to export; None for a repertoire or an actor, which take the descriptor as an input."""
    if what not in get_args(What):
        raise ValueError(f"what to export is one of {', '.join(get_args(What))}, got {what!r}")
    if what == "elite":
        return choose(found, descriptor=descriptor, cell=cell)
    if descriptor is not None or cell is not None:
        raise ValueError(f"an exported {what} takes the descriptor as an input; only an elite is chosen in advance")
    choose(found, descriptor=found.space.low, actor=what == "actor")  # refuses an empty one, and one without an actor
    return None


def _content(found: Repertoire, what: What, policy: Policy | None, maker: ModuleType) -> bytes:
    if policy is not None:
        content: bytes = maker.elite(found, policy.cell)
    else:
        content = maker.actor(found) if what == "actor" else maker.repertoire(found)
    return content


def _difference(found: Repertoire, what: What, policy: Policy | None, run: parity.Runner) -> float:
    """The largest difference between the file's actions and the repertoire's; refuses one above the tolerance."""
    size = found.layers.sizes[0]
    if policy is not None:
        difference = parity.fixed_difference(run, policy, size)
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


def _elite(policy: Policy, descriptor: ArrayLike | None) -> dict[str, Any]:
    """Which elite it is, and the descriptor that was asked for, if any."""
    return {
        "asked_for": None if descriptor is None else np.asarray(descriptor, np.float64).tolist(),
        "descriptor": policy.descriptor.tolist(),
        "fitness": policy.fitness,
        "cell": policy.cell,
    }


def _graph() -> ModuleType:
    """`dcrl.deployment.graph`, which needs the optional packages onnx and onnxruntime."""
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
    raise ValueError(f"the format is onnx or npz, got {chosen!r}; use such a suffix for the file, or give --format")


def _write(path: Path, contract_path: Path, content: bytes, terms: dict[str, Any]) -> None:
    """Both files or neither."""
    try:
        write_bytes(path, content)
        try:
            write_json(contract_path, terms)
        except OSError:
            path.unlink()
            raise
    except OSError as error:
        raise ValueError(f"{error}; choose another --output") from None
