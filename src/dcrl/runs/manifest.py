"""The manifest of a run: versions, host, commit and command."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dcrl.devices import cores
from dcrl.files import read_json, write_json
from dcrl.version import PACKAGE, __version__, versions

VECTORS = {"fma": "FMA", "avx2": "AVX2", "avx512f": "AVX-512", "avx512_bf16": "AVX-512 BF16", "amx_tile": "AMX"}


def manifest(own: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """`own` describes a task and an algorithm of the user's own, so that they are found again."""
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": sys.argv,
        "host": platform.node(),
        "platform": platform.platform(),
        "processor": processor(),
        "cores": cores(),
        "python": platform.python_version(),
        "packages": versions(),
        "commit": _commit(),
        **_fields(own or {}),
    }


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's model where the system names it, else its architecture: floating-point results depend on it.

    On Linux with family, model number and vector instructions, since different processors share a name.
    """
    try:
        lines = cpuinfo.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    pairs = [(name.strip(), value.strip()) for name, colon, value in (line.partition(":") for line in lines) if colon]
    first = dict(reversed(pairs))  # of the first core: of equal names the earliest line
    name = first.get("model name") or platform.processor() or platform.machine()
    numbers = [f"{word} {first[key]}" for word, key in (("family", "cpu family"), ("model", "model")) if key in first]
    flags = first.get("flags", "").split()
    vectors = [word for flag, word in VECTORS.items() if flag in flags]
    details = ", ".join([*numbers, *vectors])
    return f"{name} ({details})" if details else name


def _fields(own: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {f"own_{noun}": dict(about) for noun, about in own.items()}


def note_own(run: Path, own: Mapping[str, Mapping[str, Any]]) -> None:
    """Note in a run's manifest where the user's own task or algorithm is now; a damaged manifest is left as it is."""
    path = run / "manifest.json"
    try:
        found = read_json(path)
    except ValueError:
        return
    if isinstance(found, dict):
        write_json(path, found | _fields(own))


def made_with(run: Path) -> str:
    """The version and commit that a run was made with, in words."""
    try:
        found = read_json(run / "manifest.json")
        version, commit = found["packages"][PACKAGE], found["commit"]
    except (ValueError, KeyError, TypeError):
        return "its version is unknown"
    return f"made with dcrl {version}" + (f", commit {str(commit)[:7]}" if commit else "") + f"; this is {__version__}"


def _commit() -> str | None:
    """The commit of the source this package runs from, with a + if it was changed since; None when installed."""
    here = Path(__file__).parent
    try:
        commit = _git("rev-parse", "HEAD", at=here)
        return commit + ("+" if _git("status", "--porcelain", "--", str(here.parent), at=here) else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str, at: Path) -> str:
    command = ["git", "-C", str(at), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
