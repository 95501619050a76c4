"""Which elites become parents."""

from __future__ import annotations

import jax
import numpy as np

from dcrl.archive.archive import Archive
from dcrl.types import Bools, Ints


def select(archive: Archive, key: jax.Array, count: int, preferred: Bools | None = None) -> Ints:
    """(count,) cells, each drawn uniformly from the occupied ones, independently.

    Where some of the occupied cells are `preferred` (C,), only these are drawn.
    """
    cells = np.flatnonzero(archive.occupied)
    if not len(cells):
        raise ValueError("cannot select from an archive without elites: no evaluation was valid so far")
    if preferred is not None and preferred[cells].any():
        cells = cells[preferred[cells]]
    drawn: Ints = cells[np.asarray(jax.random.randint(key, (count,), 0, len(cells)))]
    return drawn
