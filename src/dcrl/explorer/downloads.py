"""Files that the page offers of what it plays: the policy as ONNX or NumPy, and a video of the episode."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeAlias, cast, get_args

from dcrl.explorer.playing import Played
from dcrl.repertoires.policy import Policy
from dcrl.repertoires.repertoire import Repertoire

Format: TypeAlias = Literal["onnx", "npz", "video"]

FPS = 25.0


@dataclass(frozen=True, kw_only=True)
class Download:
    """A file for the browser to save."""

    name: str
    content: bytes


def wanted(sent: Any, played: Played) -> tuple[Policy, Format]:
    """The policy and the format that a browser sent, which may be anything; refuses what is neither."""
    if sent["format"] not in get_args(Format):
        raise ValueError(f"a file is one of {', '.join(get_args(Format))}, got {sent['format']!r}")
    return played.policies[range(len(played.policies))[int(sent["motion"])]], cast(Format, sent["format"])


def made(played: Played, policy: Policy, format: Format, watch: Callable[[int, int], None]) -> Download:
    """The file; `watch` is called with the number of pictures drawn so far, and of how many."""
    if format == "video":
        return _video(policy, played.seed, watch)
    return _policy(played.found, policy, format)


def _policy(found: Repertoire, policy: Policy, format: Literal["onnx", "npz"]) -> Download:
    """A .zip with the policy and its contract. The actor takes the descriptor as an input, so it comes whole."""
    from dcrl.deployment.export import export

    name = f"{_name(policy)}.{format}"
    file = io.BytesIO()
    with TemporaryDirectory(prefix="dcrl-") as folder, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        path = Path(folder) / name
        # whoever opened the run has vouched for its task
        export(found, path, what=policy.kind, cell=policy.cell, trust_task=True)
        for written in (path, Path(f"{path}.json")):
            archive.write(written, written.name)
    return Download(name=f"{name}.zip", content=file.getvalue())


def _video(policy: Policy, seed: int, watch: Callable[[int, int], None]) -> Download:
    """An .mp4, or a .gif where there is no ffmpeg."""
    from dcrl.rendering.render import policy_video

    ending = ".mp4" if find_spec("imageio_ffmpeg") else ".gif"
    content = policy_video(policy, seed, ending, fps=FPS, watch=watch)
    return Download(name=f"{_name(policy)}-seed-{seed}{ending}", content=content)


def _name(policy: Policy) -> str:
    """A file name that tells the task and the policy; a task's name may hold anything."""
    task = "".join(letter if letter.isalnum() or letter in "_-" else "-" for letter in policy.task)[-60:]
    return f"{task}-actor" if policy.cell is None else f"{task}-cell-{policy.cell}"
