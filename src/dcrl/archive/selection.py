"""Which elites become parents."""

from __future__ import annotations

import jax
import numpy as np

from dcrl.archive.archive import Archive
from dcrl.types import Ints


class EmptyArchiveError(ValueError):
    """There is no elite to select, because no evaluation was valid so far."""

    def __init__(self) -> None:
        super().__init__("cannot select from an archive without elites: no evaluation was valid so far")


def occupied_cells(archive: Archive) -> Ints:
    """The cells that hold an elite; an archive without elites is refused."""
    cells = np.flatnonzero(archive.occupied)
    if not len(cells):
        raise EmptyArchiveError
    return cells


def select(archive: Archive, key: jax.Array, count: int) -> Ints:
    """(count,) cells, each drawn uniformly from the occupied ones, independently."""
    cells = occupied_cells(archive)
    drawn: Ints = cells[np.asarray(jax.random.randint(key, (count,), 0, len(cells)))]
    return drawn
