"""What each operator achieved in a generation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcrl.algorithms.state import OperatorReport
from dcrl.archive.archive import Addition
from dcrl.learners.conditioning import normalise, similarity
from dcrl.types import Bools, Descriptor, Evaluation, Floats
from dcrl.variation.operator import Operator


def similarities(space: Descriptor, target: Floats, found: Evaluation, length_scale: float) -> Floats:
    """(B,) S(d, d') of offspring that were given a target d' (B, D), NaN for the others and for invalid episodes."""
    known: Bools = found.valid & ~np.isnan(target).any(axis=1)
    scale = np.full(len(target), np.nan)
    scale[known] = similarity(normalise(space, found.descriptor[known]), normalise(space, target[known]), length_scale)
    return scale


def operator_reports(
    operators: Sequence[Operator], addition: Addition, similarity: Floats | None
) -> tuple[OperatorReport, ...]:
    """Of operators whose offspring follow one another; `similarity` (B,) where learners are conditioned."""
    reports, first = [], 0
    for operator in operators:
        rows = slice(first, first + operator.count)  # beyond the end for data operators: nothing was added
        first += operator.count
        reports.append(
            OperatorReport(
                name=operator.name,
                evaluations=operator.count,
                added=int(addition.added[rows].sum()),
                improvement=float(addition.improvement[rows].sum()),
                similarity=None if similarity is None else _mean(similarity[rows]),
            )
        )
    return tuple(reports)


def _mean(similarity: Floats) -> float | None:
    known = similarity[~np.isnan(similarity)]
    return float(known.mean()) if len(known) else None
