"""`dcrl regrid RUN --cells N --output FILE`: a repertoire's elites in other cells."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from dcrl.cli.written import report
from dcrl.files import free
from dcrl.repertoires.load import load
from dcrl.repertoires.regrid import CVT_SAMPLES, regrid
from dcrl.repertoires.save import save


def run(
    path: Annotated[Path, tyro.conf.arg(metavar="RUN")],
    /,
    *,
    cells: int,
    output: Path,
    seed: int = 0,
    cvt_samples: int = CVT_SAMPLES,
    overwrite: bool = False,
    json: bool = False,
) -> int:
    """Move the elites of a repertoire to an archive with another number of cells; the best of each cell is kept.

    Args:
        path: a run directory or a repertoire file
        cells: number of cells of the new archive
        output: the file to write, such as regridded.safetensors; `dcrl.load` reads it
        seed: seed of the centroids
        cvt_samples: number of uniform samples from which the centroids are computed
        overwrite: replace an existing output file
        json: print a JSON object
    """
    if not 0 <= seed < 2**32:
        raise ValueError(f"the seed must be a whole number from 0 to 2^32 - 1, got {seed}")
    free(output, overwrite=overwrite)
    made = regrid(load(path), cells, seed, cvt_samples)
    save(output, made)
    return report(output, made, json=json)
