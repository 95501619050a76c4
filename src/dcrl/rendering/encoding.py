"""Pictures as the bytes of a file: MP4, GIF, PNG or JPEG."""

from __future__ import annotations

import io
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from dcrl.rendering.interruption import keyboard_interrupts
from dcrl.rendering.video import Picture

ENDINGS = (".mp4", ".gif", ".png")
CONSTANT_RATE_FACTOR = 20  # of x264: lower is better and larger
GIF_SHORTEST = 2  # hundredths of a second that a frame of a GIF lasts at least; viewers slow down below it
JPEG_QUALITY = 80
GIF_COLOURS = 128
GIF_SAMPLE = 8  # frames from which its palette is computed


def check_ending(ending: str) -> None:
    """Refuse a kind of file that cannot be written here."""
    if ending not in ENDINGS:
        raise ValueError(f"the output is a video or a picture, ending in {', '.join(ENDINGS)}, got {ending or 'none'}")
    if ending == ".mp4" and find_spec("imageio_ffmpeg") is None:
        raise ValueError(
            "an .mp4 needs the package imageio-ffmpeg: pip install 'dcrl-map-elites[render]'; a .gif does not"
        )


def possible_fps(ending: str, fps: float) -> float:
    """The nearest frame rate the file can have: frames of a GIF last whole hundredths of a second."""
    if ending != ".gif":
        return fps
    return 100 / max(GIF_SHORTEST, round(100 / fps))


def jpeg(picture: Picture, largest: int) -> bytes:
    """One picture, reduced if its longer side has more than `largest` pixels."""
    image = Image.fromarray(picture)
    image.thumbnail((largest, largest), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "JPEG", quality=JPEG_QUALITY)
    return file.getvalue()


def mp4(pictures: Iterator[Picture], fps: float) -> bytes:
    """H.264, for every player and browser. ffmpeg writes into a temporary directory, which is always deleted."""
    first = next(pictures)
    height, width = first.shape[:2]
    ffmpeg = _ffmpeg()
    with keyboard_interrupts(), TemporaryDirectory(prefix="dcrl-") as directory:
        path, log = Path(directory) / "video.mp4", Path(directory) / "log"
        source = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {fps:g} -i -".split()
        coding = f"-c:v libx264 -crf {CONSTANT_RATE_FACTOR} -pix_fmt yuv420p -movflags +faststart".split()
        command = [ffmpeg, "-v", "error", *source, *coding, str(path)]
        with (
            log.open("wb") as messages,
            # in a session of its own, so that Ctrl-C does not reach ffmpeg
            Popen(command, stdin=PIPE, stdout=DEVNULL, stderr=messages, start_new_session=True) as process,
        ):
            assert process.stdin is not None
            try:
                for picture in chain((first,), pictures):
                    process.stdin.write(np.ascontiguousarray(picture).data)
                process.stdin.close()
                code = process.wait()
            except BrokenPipeError:  # it stopped early, and the log says why
                code = process.wait() or 1
            except BaseException:
                process.kill()
                raise
        if code:
            raise ValueError(f"ffmpeg could not write the video: {log.read_text(errors='replace').strip()}")
        return path.read_bytes()


def _ffmpeg() -> str:
    import imageio_ffmpeg

    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        raise ValueError(f"an .mp4 needs ffmpeg: {error}; a .gif does not") from None


def gif(pictures: Iterator[Picture], fps: float) -> bytes:
    """All frames share one palette, so that colours do not flicker."""
    images = [Image.fromarray(picture) for picture in pictures]
    sample = images[:: max(1, len(images) // GIF_SAMPLE)]
    mosaic = Image.fromarray(np.concatenate([np.asarray(image) for image in sample]))
    palette = mosaic.quantize(GIF_COLOURS)
    first, *rest = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    content = io.BytesIO()
    first.save(content, "GIF", save_all=True, append_images=rest, duration=round(1000 / fps), loop=0, optimize=False)
    return content.getvalue()


def png(picture: Picture) -> bytes:
    content = io.BytesIO()
    Image.fromarray(picture).save(content, "PNG", optimize=True)
    return content.getvalue()
