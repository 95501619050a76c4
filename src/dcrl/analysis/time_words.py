"""Times to a threshold as text."""

from __future__ import annotations

import numpy as np

from dcrl.analysis.metrics import number
from dcrl.analysis.times import TimeToThreshold


def median_time_text(total: TimeToThreshold) -> str:
    return number(total.median) if np.isfinite(total.median) else "not reached"


def interval_text(total: TimeToThreshold) -> str:
    """The 95% interval; empty where there is none."""
    if np.isnan(total.low) or np.isinf(total.low):
        return ""
    return f"{number(total.low)} to {number(total.high)}" if np.isfinite(total.high) else f"{number(total.low)} or more"
