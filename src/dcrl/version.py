"""The version of this package, and those of other packages; readable without importing any of them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

__version__ = "0.2.0"


def installed(package: str) -> str | None:
    """The installed version of a package; None if it is missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
