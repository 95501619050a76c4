"""`dcrl merge A B ... --output FILE`: the best elite a cell of several repertoires."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from dcrl.cli.written import report
from dcrl.files import free
from dcrl.repertoires.load import load
from dcrl.repertoires.merge import merge
from dcrl.repertoires.save import save


def run(
    paths: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="RUN RUN ...")],
    /,
    *,
    output: Path,
    overwrite: bool = False,
    json: bool = False,
) -> int:
    """Merge repertoires of the same task, network and descriptor into the cells of the first.

    Args:
        paths: runs' directories or repertoires' files, at least two
        output: the file to write, such as merged.safetensors; `dcrl.load` reads it
        overwrite: replace the output file if it is already there
        json: print a JSON object, for programs
    """
    free(output, overwrite=overwrite)
    merged = merge([load(path) for path in paths])
    save(output, merged)
    return report(output, merged, json=json)
