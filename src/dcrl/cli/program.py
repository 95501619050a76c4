"""How to call this program again, for the commands that it tells the user to run next."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from shlex import quote


def program() -> str:
    """`dcrl`, or as it was called where that is not on the PATH; it can be pasted into a shell."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return "python -m dcrl"
    return quote(str(called)) if called.name == "dcrl" and called.parent != Path() and not _on_path(called) else "dcrl"


def _on_path(called: Path) -> bool:
    found = shutil.which("dcrl")
    return found is not None and Path(found).resolve() == called.resolve()
