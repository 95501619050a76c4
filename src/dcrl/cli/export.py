"""`dcrl export RUN`: policies as files that run without this package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from dcrl.cli.descriptor import numbers
from dcrl.deployment import export as exports
from dcrl.deployment.export import Format, What
from dcrl.deployment.parity import SAMPLES, TOLERANCE


def run(
    path: Annotated[Path, tyro.conf.arg(metavar="RUN")],
    /,
    *,
    output: Annotated[Path, tyro.conf.arg(metavar="FILE")],
    what: What = "elite",
    descriptor: Annotated[str | None, tyro.conf.arg(metavar="D1,D2,...")] = None,
    format: Format | None = None,
    trust_task: bool = False,
    overwrite: bool = False,
) -> int:
    """Write policies as an ONNX or NumPy file, with a contract of its inputs and outputs in FILE.json.

    It is kept only if its actions are those of the repertoire, to 1e-5, on 1,000 random observations or descriptors.

    Args:
        path: the run's directory, such as runs/walker2d_uni/dcrl_me/seed-0, or an archive.safetensors
        output: the file to write
        what: the elite nearest to --descriptor, the repertoire of all elites, or the descriptor-conditioned actor;
            the last two take the descriptor as an input
        descriptor: where the elite should be, such as 0.4,0.7, in the descriptor's units; `dcrl tasks NAME` tells them
        format: onnx or npz; by the ending of --output if not given
        trust_task: run the code of a task of the form file.py:object or module:object that a run names
        overwrite: replace FILE and FILE.json
    """
    wanted = None if descriptor is None else numbers(descriptor)
    done = exports.export(
        path, output, what=what, descriptor=wanted, format=format, overwrite=overwrite, trust_task=trust_task
    )
    print(f"wrote {done.path} and its contract {done.contract}")
    print(
        f"largest difference from the repertoire on {SAMPLES:,} random {'observations' if wanted else 'descriptors'}: "
        f"{done.largest_difference:.2g} ({TOLERANCE:g} is allowed)"
    )
    return 0
