"""The installed command as the tests start it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("dcrl")

# A shell starts its background jobs with interrupts ignored, and its tests with them.
HEEDING_INTERRUPTS = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)


def ran(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, cwd=cwd, timeout=120, check=False)
