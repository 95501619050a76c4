"""`dcrl merge RUN RUN ... --output FILE`: the best elite of each cell of several repertoires."""

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
        paths: at least two run directories or repertoire files
        output: the file to write, such as merged.safetensors; `dcrl.load` reads it
        overwrite: replace an existing output file
        json: print a JSON object
    """
    free(output, overwrite=overwrite)
    merged = merge([load(path) for path in paths])
    save(output, merged)
    return report(output, merged, json=json)
