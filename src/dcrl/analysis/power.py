"""How many seeds a difference needs: the power of a Mann-Whitney U test, from the spread of the runs there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy import stats

from dcrl.analysis.statistics import SIGNIFICANT, smallest_p
from dcrl.types import Floats

POWER = 0.8
MOST_SEEDS = 1000  # beyond, the answer is "more"
SIMULATED = 40  # seeds; beyond, the normal approximation is good
SIMULATIONS = 1000
LARGEST_SHIFT = 20.0  # standard deviations: complete separation


def probability_of_superiority(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float:
    """P(X > Y) of two normal distributions with the means and standard deviations of the samples; NaN of single runs.

    The share of pairs itself would be 1 for most pairs of a few runs each, which overstates the effect.
    """
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if min(len(one), len(other)) < 2:
        return math.nan
    difference, spread = one.mean() - other.mean(), math.hypot(one.std(ddof=1), other.std(ddof=1))
    if spread == 0:
        return 0.5 if difference == 0 else float(difference > 0)
    return float(stats.norm.cdf(difference / spread))


def seeds_needed(superiority: float, tests: int = 1) -> int | None:
    """Seeds per side for a power of 80% in a family of so many tests; None if more than 1,000.

    The level is 0.05 / tests, that of the first step of Holm's correction. Up to 40 seeds the power is simulated: pairs
    of normal samples of equal variance with this P(X > Y). Beyond, it is Noether's (1987) approximation,
    n = (z(1 - level / 2) + z(power))² / (6 (P(X > Y) - 1/2)²).
    """
    level, least, effect = SIGNIFICANT / tests, runs_needed(tests), abs(superiority - 0.5)
    if math.isnan(effect) or effect == 0:
        return None
    approximate = math.ceil((stats.norm.ppf(1 - level / 2) + stats.norm.ppf(POWER)) ** 2 / (6 * effect**2))
    if approximate > SIMULATED:
        return approximate if approximate <= MOST_SEEDS else None
    shift = round(min(math.sqrt(2) * float(stats.norm.ppf(0.5 + effect)), LARGEST_SHIFT), 2)
    enough = (seeds for seeds in range(least, approximate) if (_simulated(shift, seeds) < level).mean() >= POWER)
    return next(enough, max(least, approximate))


@cache
def _simulated(shift: float, seeds: int) -> Floats:
    """(SIMULATIONS,) p values of tests of normal samples whose means differ by so many standard deviations."""
    drawn = np.random.default_rng(seeds).normal(size=(2, SIMULATIONS, seeds))
    p: Floats = stats.mannwhitneyu(drawn[0] + shift, drawn[1], axis=1).pvalue
    return p


def runs_needed(tests: int) -> int:
    """Runs per side from which on complete separation is significant after correction for so many tests."""
    return next(runs for runs in range(2, MOST_SEEDS) if smallest_p(runs, runs) * tests < SIGNIFICANT)
