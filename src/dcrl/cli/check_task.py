"""`dcrl check-task`: examine a task and say what is wrong with it."""

from __future__ import annotations

from dataclasses import asdict

from dcrl.check import check_task
from dcrl.cli import output

MARKS = {"ok": "✓", "failed": "✗", "note": "•"}


def run(task: str, /, *, json: bool = False) -> int:
    """Examine a task: its model, shapes, ranges and determinism, and some episodes of random policies.

    The exit code is 0 if every check holds (a note, •, is no failure) and 2 if not.

    Args:
        task: a task's name, module:object or file.py:object
        json: print a list of JSON objects with check, status (ok, failed or note) and sentence, for programs
    """
    findings = check_task(task)
    failures = sum(finding.status == "failed" for finding in findings)
    if json:
        output.print_json([asdict(finding) for finding in findings])
    else:
        console = output.console()
        for finding in findings:
            console.print(f"{MARKS[finding.status]} {finding.check}: {finding.sentence}")
        console.print(f"{task}: {f'{failures} of {len(findings)} checks failed' if failures else 'every check holds'}")
    return 2 if failures else 0
