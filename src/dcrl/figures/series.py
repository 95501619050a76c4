"""The names of series in figures and tables, and of operators in a run's metrics: put together and taken apart here.

A series is an algorithm, a variant of it, as in `dcrl_me (discount=0.9)`, or the actor of one, as in `dcrl_me actor`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_ACTOR = " actor"
_IMPROVEMENT = "improvement_"  # of the column that every operator has in metrics.csv


def variant_series(algorithm: str, differing: Mapping[str, str]) -> str:
    """The series of runs of an algorithm whose hyperparameters differ from the usual ones in these fields."""
    what = ", ".join(f"{name}={value}" for name, value in differing.items())
    return f"{algorithm} ({what})" if what else algorithm


def actor_series(series: str) -> str:
    """The series of the actors of these runs."""
    return series + _ACTOR


def elites_series(series: str) -> str:
    """The series of the same runs' elites, for that of their actors; otherwise the series itself."""
    return series.removesuffix(_ACTOR)


def algorithm_and_rest(series: str) -> tuple[str, str]:
    """The algorithm of a series, and what makes it another one; no algorithm's name contains a space."""
    algorithm, _, rest = series.partition(" ")
    return algorithm, rest


def operators_of(columns: Iterable[str]) -> tuple[str, ...]:
    """The operators that have columns in a `metrics.csv`."""
    return tuple(name.removeprefix(_IMPROVEMENT) for name in columns if name.startswith(_IMPROVEMENT))
