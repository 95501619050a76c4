"""A connection to a Ray cluster, or to a Ray started on this machine; what goes wrong is one sentence."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dcrl.devices import cores

STORE_BYTES = 128 * 2**20  # of the object store, which carries small things only; Ray would take 30 % of the memory
CONNECT_SECONDS = 5.0
PREFIX = "dcrl-ray-"
LONGEST_PLACE = 12  # characters: the path of a socket has at most 107, and Ray's own part of it takes 70
SHORT_PLACE = Path("/tmp")


def require_ray(what: str = "Ray") -> None:
    """Refuse, with a sentence, what needs Ray where it is not installed or cannot be imported."""
    try:
        import ray  # noqa: F401
    except ModuleNotFoundError:
        raise ValueError(f"{what} is an optional extra: pip install 'dcrl-map-elites[ray]'") from None
    except ImportError as error:
        raise ValueError(
            f"{what} is an optional extra, and the Ray that is installed cannot be imported ({_line(error)}): "
            "pip install --force-reinstall 'dcrl-map-elites[ray]'"
        ) from None


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Connect this process to the cluster at `address`: `auto`, HOST:PORT, or None to start Ray on this machine.

    A Ray started here has this machine's cores, and is stopped at the end without leaving files or processes.
    """
    require_ray()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is None:
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # or Ray would keep one in the home directory
        os.environ.setdefault("RAY_worker_niceness", "0")  # as processes that this one starts itself; Ray's own is 15
    import ray

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    own = None if address is not None else _own_directory()
    try:
        _connect(address, own)
        for number, handler in handlers.items():  # Ray has replaced them
            signal.signal(number, handler)
        yield
    finally:
        ray.shutdown()
        if own is not None:
            shutil.rmtree(own, ignore_errors=True)


def _connect(address: str | None, own: Path | None) -> None:
    import ray

    if address is not None and address != "auto":
        _knock(address)
    try:
        if own is not None:
            ray.init(
                address="local",
                num_cpus=cores(),
                object_store_memory=STORE_BYTES,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
                _temp_dir=str(own),
            )
        else:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except ConnectionError as error:
        raise ValueError(f"there is no Ray cluster at {address}: {_line(error)}; {_HOW}") from None
    except RuntimeError as error:
        needed = "" if address is None else "; all nodes need the same versions of Python and Ray"
        raise ValueError(f"cannot connect to Ray: {_line(error)}{needed}") from None
    except Exception as error:  # Ray raises a plain Exception when a node does not start in time
        if own is None:
            raise
        raise ValueError(f"cannot start Ray on this machine: {_line(error)}") from None


_HOW = "`ray start --head` starts one, and without --address Ray is started on this machine"


def _knock(address: str) -> None:
    """Refuse an address at which nobody answers, which Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdigit():
        raise ValueError(f"--address is auto or HOST:PORT of a cluster that this machine belongs to, got {address!r}")
    try:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"there is no Ray cluster at {address}: {reason}; {_HOW}") from None


def _own_directory() -> Path:
    """A directory for Ray's files with a short name, as sockets need; those of killed processes are removed."""
    usual = Path(tempfile.gettempdir())
    place = usual if len(str(usual)) <= LONGEST_PLACE or not SHORT_PLACE.is_dir() else SHORT_PLACE
    for left in place.glob(f"{PREFIX}*"):
        pid = left.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists() and Path("/proc").exists():
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=place))


def _line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")
