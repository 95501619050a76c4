"""The installed command `dcrl`.

It stands outside the package, whose import takes a moment: an interrupt must be handled from the start. So this module
imports nothing that Python has not loaded already.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # the rest of `signal` takes as long as Python's own start
import os
import sys

INTERRUPTED = 130


def main() -> None:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where a shell ignores interrupts
        signal.signal(signal.SIGINT, _interrupted)
    _open_standard_streams()
    from dcrl.cli.main import command
    from dcrl.runs.parent import end_with_parent

    end_with_parent()
    code = command(sys.argv[1:])
    if code == INTERRUPTED:
        _leave()
    sys.exit(code)


def _interrupted(number: int, frame: object) -> None:
    """Leave at once: an exception in the middle of an import or of a C extension could abort the process."""
    discard = getattr(sys.modules.get("dcrl.files"), "discard_unfinished", None)
    if discard is not None:  # otherwise that module is not imported yet, or only in part, and nothing was written
        discard()
    os.write(2, b"dcrl: interrupted\n")
    _leave()


def _leave() -> None:
    """Exit without the interpreter's shutdown, which threads of C libraries may abort."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except (OSError, ValueError, RuntimeError):  # closed, or interrupted while it was written to
                continue
    os._exit(INTERRUPTED)


def _open_standard_streams() -> None:
    """Replace closed streams, and never fail on a character that the terminal's encoding lacks."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
