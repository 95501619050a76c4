"""`dcrl check-task`: check a task and say what is wrong with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Annotated

import tyro

from dcrl.check import Finding, check_task
from dcrl.cli import output

MARKS = {"ok": "✓", "failed": "✗", "note": "•"}


def run(task: Annotated[str, tyro.conf.arg(metavar="TASK")], /, *, json: bool = False) -> int:
    """Check a task: model, shapes, ranges, determinism, and episodes of the policies that training begins with.

    The exit code is 0 if every check passes and 2 if not. A note (•) is a warning, not a failure.

    Args:
        task: a task's name, module:object or file.py:object
        json: print a list of JSON objects with check, status (ok, failed or note) and sentence
    """
    return print_findings(task, check_task(task), json=json)


def print_findings(checked: str, findings: tuple[Finding, ...], *, json: bool) -> int:
    """One line per check; the exit code."""
    failures = sum(finding.status == "failed" for finding in findings)
    if json:
        output.print_json([asdict(finding) for finding in findings])
    else:
        lines = [f"{MARKS[finding.status]} {finding.check}: {finding.sentence}" for finding in findings]
        output.print_lines([*lines, f"{checked}: {_verdict(findings)}"])
    return 2 if failures else 0


def _verdict(findings: tuple[Finding, ...]) -> str:
    """The outcome in one line, with the number of notes, so that a warning is not lost."""
    count = Counter(finding.status for finding in findings)
    passed = f"{count['failed']} of {len(findings)} checks failed" if count["failed"] else "every check passed"
    notes = {0: "", 1: "; see the note"}.get(count["note"], f"; see the {count['note']} notes")
    return passed + notes
