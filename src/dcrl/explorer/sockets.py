"""python-socketio, with which NiceGUI talks to browsers, imported without what only its clients need."""

from __future__ import annotations

import sys
from importlib import import_module

CLIENTS = ("aiohttp", "requests")  # they do without where these are not installed


def load() -> None:
    """Import it, a quarter of a second sooner. No other thread may import what is hidden meanwhile."""
    hidden = [name for name in CLIENTS if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None: as if it were not installed
    try:
        import_module("socketio")
    finally:
        for name in hidden:
            del sys.modules[name]
