"""`dcrl export RUN`: policies as files that can be used without this package."""

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
    cell: int | None = None,
    format: Format | None = None,
    task: Annotated[str | None, tyro.conf.arg(metavar="FILE:OBJECT")] = None,
    trust_task: bool = False,
    overwrite: bool = False,
) -> int:
    """Write policies as an ONNX or NumPy file, with a contract of its inputs and outputs in FILE.json.

    The file is kept only if its actions match the repertoire's to 1e-5 on 1,000 random observations or descriptors.

    Args:
        path: a run directory, such as runs/walker2d_uni/dcrl_me/seed-0, or a repertoire file
        output: the file to write
        what: one elite, the repertoire of all elites, or the descriptor-conditioned actor; the last two take the
            descriptor as an input
        descriptor: export the elite nearest to this descriptor, such as 0.4,0.7; `dcrl tasks NAME` lists the units
        cell: export the elite of this cell; without --descriptor and --cell it is the fittest elite
        format: onnx or npz; by default the suffix of --output
        task: the new location of the run's own task, as file.py:object or module:object
        trust_task: run the code that the run names as its task; not needed for a file that you have used before
        overwrite: replace FILE and FILE.json
    """
    done = exports.export(
        path,
        output,
        what=what,
        descriptor=None if descriptor is None else numbers(descriptor),
        cell=cell,
        format=format,
        overwrite=overwrite,
        task=task,
        trust_task=trust_task,
    )
    print(f"wrote {done.path} and its contract {done.contract}")
    if done.policy is not None:
        print(done.policy)
    drawn = "descriptors" if done.policy is None else "observations"
    print(
        f"largest difference from the repertoire on {SAMPLES:,} random {drawn}: {done.largest_difference:.2g} "
        f"({TOLERANCE:g} is allowed)"
    )
    return 0
