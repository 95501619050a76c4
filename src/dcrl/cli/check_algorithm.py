"""`dcrl check-algorithm`: check an algorithm and say what is wrong with it."""

from __future__ import annotations

from typing import Annotated

import tyro

from dcrl.check.algorithm import check_algorithm
from dcrl.cli.check_task import print_findings


def run(algorithm: Annotated[str, tyro.conf.arg(metavar="ALGORITHM")], /, *, json: bool = False) -> int:
    """Check an algorithm: configuration, counts, archive, determinism, resuming, divergence, learning.

    It plays short runs on point_omni with a small configuration: a sixteenth of the policies per generation. The exit
    code is 0 if every check passes and 2 if not. A note (•) is a warning, not a failure.

    Args:
        algorithm: an algorithm's name, module:object or file.py:object
        json: print a list of JSON objects with check, status (ok, failed or note) and sentence
    """
    return print_findings(algorithm, check_algorithm(algorithm), json=json)
