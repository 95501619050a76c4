"""How JAX uses the processor, set before it starts.

Small matrix products do not scale over threads, independent ones do. So a CPU is presented as one
device per core, each single-threaded, and work is shared among the devices.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepare(cache: Path) -> None:
    """Set up JAX: one CPU device per core, unless XLA_FLAGS says otherwise, and compiled code kept in `cache`.

    Where `cache` cannot be written to, nothing is kept: JAX would warn about each program that it compiles.

    Has no effect on devices once JAX has computed anything. Results do not depend on the number of devices; matrix
    products with threads differ from those without in their last bits.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    for flag in (f"--xla_force_host_platform_device_count={cores()}", "--xla_cpu_multi_thread_eigen=false"):
        if flag.split("=")[0] not in flags:
            flags = f"{flags} {flag}".strip()
    os.environ["XLA_FLAGS"] = flags
    if os.environ.get("JAX_COMPILATION_CACHE_DIR") is None and _is_writable(cache / "jax"):
        _configure(jax_compilation_cache_dir=str(cache / "jax"), jax_persistent_cache_min_compile_time_secs=0.5)


def _is_writable(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK | os.X_OK)


def _configure(**settings: str | float) -> None:
    """Set JAX's options; through the environment if JAX is not imported yet, since importing it takes a second."""
    if "jax" not in sys.modules:
        os.environ.update({name.upper(): str(value) for name, value in settings.items()})
        return
    import jax

    for name, value in settings.items():
        jax.config.update(name, value)
