"""`dcrl doctor`: what this installation and this machine can do, and how to get what is missing."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import requires, version
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement

from dcrl.cli import output
from dcrl.version import installed

PACKAGE = "dcrl-map-elites"
MARKS = {"ok": "✓", "broken": "✗", "missing": "•"}
GIB = 2**30
EXTRAS = {  # the packages of an optional extra and what they give; mjx and render have checks of their own
    "onnx": (("onnx", "onnxruntime"), "`dcrl export --format onnx`, checked against our own policies"),
    "tensorboard": (("tensorboard",), "`--log tensorboard` of `dcrl train` and `dcrl resume`"),
    "wandb": (("wandb",), "`--log wandb` of `dcrl train` and `dcrl resume`"),
    "explore": (("nicegui",), "`dcrl explore`, the web page of a repertoire"),
    "ray": (("ray",), "`--backend ray` of `dcrl sweep` and `dcrl evaluate`, and `--workers ray`"),
}

DRAW = """
from dcrl.tasks.engine import mujoco
from dcrl.rendering.camera import Camera
from dcrl.tasks.point import point_omni
data = mujoco.MjData(point_omni.model)
mujoco.mj_forward(point_omni.model, data)
Camera(point_omni.model, 32, 24).picture(data)
print("drawn")
"""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check of the installation: ok, broken though it is needed, or optional and missing."""

    what: str
    status: Literal["ok", "broken", "missing"]
    sentence: str


def run(*, json: bool = False) -> int:
    """Check this installation and this machine: versions, cores, memory, devices, and a test rollout.

    The exit code is 2 if a required part is broken, otherwise 0; optional parts may be missing.

    Args:
        json: print one JSON object with the versions, and for each check what, status (ok, broken or missing) and
            sentence
    """
    extras = {name: partial(_extra, name, *what) for name, what in EXTRAS.items()}
    checks = [_checked(what, test) for what, test in (CHECKS | extras).items()]
    if json:
        output.print_json({"versions": _versions(), "checks": [asdict(check) for check in checks]})
    else:
        output.print_lines(f"{MARKS[found.status]} {found.what}: {found.sentence}" for found in checks)
    return 2 if any(check.status == "broken" for check in checks) else 0


class _MissingError(Exception):
    """An optional part is missing; the message says how to install it."""


def _checked(what: str, test: Callable[[], str]) -> Check:
    try:
        return Check(what=what, status="ok", sentence=test())
    except _MissingError as error:
        return Check(what=what, status="missing", sentence=str(error))
    except Exception as error:  # one broken part must not hide the others
        return Check(what=what, status="broken", sentence=f"{type(error).__name__}: {' '.join(str(error).split())}")


def _python() -> str:
    return f"{platform.python_version()} on {platform.platform()}"


def _versions() -> dict[str, str | None]:
    """The installed versions of this package and its requirements, None for what is missing."""
    return {name: installed(name) for name in (PACKAGE, "jaxlib", *(need.name for need in _needs()))}


def _needs() -> list[Requirement]:
    """The requirements of this package, without the optional extras."""
    needs = map(Requirement, requires(PACKAGE) or ())
    return [need for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]


def _extra(name: str, packages: tuple[str, ...], gives: str) -> str:
    """The versions of the packages of an optional extra, which can be imported."""
    found = {package: installed(package) for package in packages}
    lacking = ", ".join(package for package, number in found.items() if number is None)
    if lacking:
        raise _MissingError(f"{lacking} not installed; pip install '{PACKAGE}[{name}]' adds {gives}")
    for package in packages:
        done = _python_says(f"import {package.replace('-', '_')}")
        if done.returncode:
            again = f"pip install --force-reinstall '{PACKAGE}[{name}]'"
            raise _MissingError(f"{package} {found[package]} cannot be imported ({_last_line(done)}); {again} may help")
    return f"{', '.join(f'{package} {number}' for package, number in found.items())}, for {gives}"


def _python_says(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, because a broken library may end the one that imports it."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]


def _fits(need: Requirement) -> bool:
    found = installed(need.name)
    return found is not None and need.specifier.contains(found, prereleases=True)


def _packages() -> str:
    for need in _needs():
        if not _fits(need):
            raise RuntimeError(f"{need} is needed, found {installed(need.name) or 'none'}; pip install '{need}'")
    return ", ".join(f"{name} {found}" for name, found in _versions().items())


def _cores() -> str:
    from dcrl.devices import cores

    return f"{cores()} for this process"


def _memory() -> str:
    """Linux says how much is available; other systems are not asked."""
    try:
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        total, available = (int(lines[name].split()[0]) * 1024 / GIB for name in ("MemTotal", "MemAvailable"))
    except OSError:
        return "unknown on this system"
    return f"{available:.1f} GiB available of {total:.1f} GiB"


def _disk() -> str:
    return f"{shutil.disk_usage(Path.cwd()).free / GIB:.1f} GiB free in the current directory"


def _devices() -> str:
    import jax

    devices = jax.devices()
    return f"{len(devices)} x {devices[0].device_kind} ({devices[0].platform})"


def _mjx() -> str:
    mjx, mujoco = installed("mujoco-mjx"), version("mujoco")
    if mjx is None:
        raise _MissingError(f"not installed; pip install '{PACKAGE}[mjx]' adds the simulator mjx")
    if mjx.split(".")[:2] != mujoco.split(".")[:2]:
        raise RuntimeError(f"mujoco-mjx {mjx} does not belong to mujoco {mujoco}; pip install 'mujoco-mjx=={mujoco}'")
    return f"mujoco-mjx {mjx} belongs to mujoco {mujoco}"


def _rendering() -> str:
    """Draw a picture, since an installed library may still find no device."""
    _extra("render", ("imageio", "imageio-ffmpeg"), "pictures and videos")
    done = _python_says(DRAW)
    if "drawn" not in done.stdout:
        raise _MissingError(f"no picture could be drawn; training does not need it ({_last_line(done)})")
    return "a picture was drawn"


def _rollout() -> str:
    """The first rollout compiles, the second is timed."""
    import numpy as np

    from dcrl.networks.policies import policy_layers
    from dcrl.simulators.rollouts import rollout
    from dcrl.tasks.point import point_omni

    still = np.zeros((256, policy_layers(point_omni.observation_size, point_omni.action_size).parameters))
    rollout(point_omni, still)
    begin = time.perf_counter()
    played = rollout(point_omni, still)
    seconds = time.perf_counter() - begin
    if not (played.valid.all() and np.allclose(played.fitness, 50)):  # standing still for 50 steps scores 50
        raise RuntimeError(f"policies that stand still must score 50, got {played.fitness.min()} and more")
    return f"256 episodes of point_omni, {played.steps.sum():,} steps, in {seconds:.2f} s with the known result"


CHECKS: dict[str, Callable[[], str]] = {
    "python": _python,
    "packages": _packages,
    "cores": _cores,
    "memory": _memory,
    "disk": _disk,
    "jax devices": _devices,
    "mjx": _mjx,
    "rendering": _rendering,
    "rollout": _rollout,
}
