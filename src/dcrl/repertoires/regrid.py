"""A repertoire's elites in other cells."""

from __future__ import annotations

from dcrl.algorithms.algorithm import ArchiveConfig
from dcrl.archive.archive import empty
from dcrl.archive.centroids import centroids
from dcrl.repertoires.merge import add_elites
from dcrl.repertoires.repertoire import Repertoire

CVT_SAMPLES = ArchiveConfig().cvt_samples


def regrid(repertoire: Repertoire, cells: int, seed: int = 0, samples: int = CVT_SAMPLES) -> Repertoire:
    """The same elites in another number of cells; if several fall into one cell, the best is kept."""
    archive = empty(centroids(repertoire.space, cells, samples, seed), repertoire.layers.parameters)
    return repertoire.with_archive(add_elites(archive, repertoire))
