"""`dcrl convert`: a repertoire as a CSV table of its elites, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from dcrl.cli.written import report
from dcrl.files import free
from dcrl.repertoires.convert import from_csv, to_csv
from dcrl.repertoires.load import load
from dcrl.repertoires.save import save


def run(
    path: Annotated[Path, tyro.conf.arg(metavar="RUN|elites.csv")],
    /,
    *,
    output: Path,
    like: Path | None = None,
    overwrite: bool = False,
    json: bool = False,
) -> int:
    """Write the elites of a repertoire as a CSV table, or read such a table; numbers are kept exactly.

    Args:
        path: a run directory, a repertoire file, or a .csv
        output: the file to write: a .csv table, or a .safetensors that `dcrl.load` reads
        like: with a .csv, the run or repertoire that has its task, network and cells
        overwrite: replace an existing output file
        json: print a JSON object
    """
    table, back = output.suffix == ".csv", path.suffix == ".csv"
    if table == back or (back and output.suffix != ".safetensors"):
        raise ValueError(f"convert a repertoire to a .csv, or a .csv to a .safetensors; got {path} and {output}")
    if back and like is None:
        raise ValueError("a .csv does not contain the task, network and cells; name a run that has them with --like")
    if not back and like is not None:
        raise ValueError("--like is for a .csv; a repertoire has its own task, network and cells")
    free(output, overwrite=overwrite)
    repertoire = load(path) if like is None else from_csv(path, load(like))
    if table:
        to_csv(output, repertoire)
    else:
        save(output, repertoire)
    return report(output, repertoire, json=json)
