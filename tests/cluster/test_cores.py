"""Cores that jobs of one machine claim."""

from __future__ import annotations

import os

from dcrl.cluster.cores import claimed


def test_cores_are_claimed_once() -> None:
    every = len(os.sched_getaffinity(0))
    with claimed(1) as first:
        with claimed(1) as second:
            assert not first & second
        with claimed(every) as all_of_them:
            assert all_of_them == frozenset() or not first  # not so many are free, so the job is not pinned
