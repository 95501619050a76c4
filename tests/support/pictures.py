"""Reading back what was rendered: colours in pictures, frames of videos."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]


def red(picture: Picture) -> NDArray[np.bool_]:
    """Where the red point, or the red square, is seen."""
    return picture[..., 0] > 1.7 * np.maximum(picture[..., 1], picture[..., 2])


def yellow(picture: Picture) -> NDArray[np.bool_]:
    """Where the trace of a path is seen."""
    return np.minimum(picture[..., 0], picture[..., 1]) > picture[..., 2] + 30.0


def decoded(path: Path, width: int, height: int) -> tuple[Picture, str]:
    """The frames of a video (n, height, width, 3), and what ffmpeg prints about it."""
    import imageio_ffmpeg

    read = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", path, "-fps_mode", "passthrough"]
    done = subprocess.run([*read, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True)
    return np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width, 3), done.stderr.decode()
