"""The version of this package, and those of other packages; readable without importing any of them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

__version__ = "0.2.0"
PACKAGE = "dcrl-map-elites"
PACKAGES = ("jax", "jaxlib", "mujoco", "mujoco-mjx", "gymnasium", "numpy", "optax", "scikit-learn")


def installed(package: str) -> str | None:
    """The installed version of a package; None if it is missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def versions() -> dict[str, str | None]:
    """The versions of the packages that results may depend on; None for what is not installed."""
    return {PACKAGE: __version__} | {name: installed(name) for name in PACKAGES}
