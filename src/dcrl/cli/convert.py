"""`dcrl convert`: a repertoire as a CSV table of its elites and back; repertoires of QDax and pyribs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from dcrl.algorithms.algorithm import ArchiveConfig
from dcrl.archive.centroids import centroids
from dcrl.cli.written import report
from dcrl.files import free
from dcrl.networks.policies import HIDDEN
from dcrl.repertoires.convert import from_csv, to_csv
from dcrl.repertoires.load import load
from dcrl.repertoires.placing import template
from dcrl.repertoires.pyribs import from_pyribs_table, is_pyribs_table
from dcrl.repertoires.qdax import from_qdax, is_qdax
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.save import save
from dcrl.tasks import registry


def run(
    path: Annotated[Path, tyro.conf.arg(metavar="RUN|elites.csv|FOLDER")],
    /,
    *,
    output: Path,
    like: Path | None = None,
    task: str | None = None,
    hidden: tuple[int, ...] = HIDDEN,
    overwrite: bool = False,
    json: bool = False,
) -> int:
    """Write the elites of a repertoire as a CSV table, or read such a table, a QDax repertoire or a pyribs table.

    A QDax repertoire is the folder in which its `save` wrote genotypes.npy, fitnesses.npy, descriptors.npy and
    centroids.npy; with a prefix, name the file ...genotypes.npy. A pyribs table is the .csv that
    `archive.data(return_type="pandas").to_csv` wrote.

    Args:
        path: a run directory, a repertoire file, a .csv, or a QDax repertoire
        output: the file to write: a .csv table, or a .safetensors that `dcrl.load` reads
        like: for files to read: a run or repertoire with the same task, network and cells
        task: for QDax and pyribs, instead of --like: the task; a QDax repertoire keeps its cells, a table gets 1,024
        hidden: with --task, units of the policies' hidden layers
        overwrite: replace an existing output file
        json: print a JSON object
    """
    reads = path.suffix == ".csv" or is_qdax(path)
    if (output.suffix == ".csv") == reads or (reads and output.suffix != ".safetensors"):
        raise ValueError(
            "convert a repertoire to a .csv, or a .csv to a .safetensors, or a QDax repertoire to a .safetensors; "
            f"got {path} and {output}"
        )
    if not reads and (like is not None or task is not None):
        raise ValueError(
            "--like and --task are for reading other files; a repertoire has its own task, network and cells"
        )
    if like is not None and task is not None:
        raise ValueError("--like names the task too; give --like or --task, not both")
    free(output, overwrite=overwrite)
    repertoire = _read(path, like, task, hidden) if reads else load(path)
    if reads:
        save(output, repertoire)
    else:
        to_csv(output, repertoire)
    return report(output, repertoire, json=json)


def _read(path: Path, like: Path | None, task: str | None, hidden: tuple[int, ...]) -> Repertoire:
    table = path.suffix == ".csv"
    if table and not is_pyribs_table(path):
        if like is None:
            raise ValueError(
                "a .csv does not contain the task, network and cells; name a run that has them with --like"
            )
        return from_csv(path, load(like))
    if like is None and task is None:
        raise ValueError(f"{path} does not contain the task and network; name them with --task, or a run with --like")
    reader = from_pyribs_table if table else from_qdax
    return reader(path, load(like) if like is not None else _template(str(task), hidden, with_cells=table))


def _template(task: str, hidden: tuple[int, ...], *, with_cells: bool) -> Repertoire:
    config = ArchiveConfig()
    space = registry.get(task).descriptor
    cells = centroids(space, config.cells, config.cvt_samples, 0) if with_cells else None
    return template(task, cells, hidden)
