"""Pictures as the bytes of a file: MP4, GIF or PNG."""

from __future__ import annotations

import io
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from dcrl.rendering.film import Picture

ENDINGS = (".mp4", ".gif", ".png")
QUALITY = 20  # x264's constant rate factor: lower is better and larger
GIF_HUNDREDTHS = 2  # s, the shortest time a picture of a GIF may last; viewers slow down below it
GIF_COLOURS = 128
GIF_SAMPLE = 8  # pictures that its colours are chosen by


def needs(ending: str) -> None:
    """Refuse a kind of file that cannot be written here, before anything is drawn."""
    if ending not in ENDINGS:
        raise ValueError(f"the output is a film or a picture, ending in {', '.join(ENDINGS)}, got {ending or 'none'}")
    if ending == ".mp4" and find_spec("imageio_ffmpeg") is None:
        raise ValueError(
            "an .mp4 needs the package imageio-ffmpeg: pip install 'dcrl-map-elites[render]'; a .gif does without"
        )


def rate(ending: str, fps: float) -> float:
    """The pictures a second that the file will have: a GIF's last a whole number of hundredths of a second."""
    if ending != ".gif":
        return fps
    return 100 / max(GIF_HUNDREDTHS, round(100 / fps))


def mp4(pictures: Iterator[Picture], width: int, height: int, fps: float) -> bytes:
    """H.264, for every player and browser. ffmpeg writes into a directory of its own, so nothing half-done stays."""
    with TemporaryDirectory(prefix="dcrl-") as directory:
        path, log = Path(directory) / "film.mp4", Path(directory) / "log"
        source = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {fps:g} -i -".split()
        coding = f"-c:v libx264 -crf {QUALITY} -pix_fmt yuv420p -movflags +faststart".split()
        command = [_ffmpeg(), "-v", "error", *source, *coding, str(path)]
        with (
            log.open("wb") as said,
            # a session of its own, so that Ctrl-C reaches us and not both of us
            Popen(command, stdin=PIPE, stdout=DEVNULL, stderr=said, start_new_session=True) as process,
        ):
            assert process.stdin is not None
            try:
                for picture in pictures:
                    process.stdin.write(np.ascontiguousarray(picture).data)
                process.stdin.close()
                code = process.wait()
            except BrokenPipeError:  # it gave up, and says why
                code = process.wait() or 1
            except BaseException:
                process.kill()
                raise
        if code:
            raise ValueError(f"ffmpeg could not write the film: {log.read_text(errors='replace').strip()}")
        return path.read_bytes()


def _ffmpeg() -> str:
    import imageio_ffmpeg

    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        raise ValueError(f"an .mp4 needs ffmpeg: {error}; a .gif does without") from None


def gif(pictures: Iterator[Picture], fps: float) -> bytes:
    """One palette for all pictures, so that colours do not flicker."""
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
