"""`dcrl show RUN`: a repertoire as numbers and as a map."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import tyro
from rich.text import Text

from dcrl.cli import output as printing
from dcrl.files import free
from dcrl.repertoires.load import load
from dcrl.repertoires.summary import Summary, picture, summarise
from dcrl.repertoires.words import listed, plural
from dcrl.types import Ints

WIDTH = 60  # columns of the map, at most; it has half as many points up, two per character in colour
LABEL = 13  # columns
# viridis, from the lowest fitness to the highest
COLOURS = (
    *("#440154", "#482878", "#3e4989", "#31688e", "#26828e"),
    *("#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"),
)
EMPTY = "#3a3a3a"


def run(
    path: Annotated[Path, tyro.conf.arg(metavar="RUN")],
    /,
    *,
    output: Path | None = None,
    overwrite: bool = False,
    json: bool = False,
) -> int:
    """Summarise a repertoire and draw its map.

    Args:
        path: a run directory or a repertoire file
        output: write the map as a PNG file; by default it is drawn in the terminal, if the descriptor has 2 dimensions
        overwrite: replace an existing output file
        json: print a JSON object
    """
    if output is not None and output.suffix != ".png":
        raise ValueError(f"the map is a picture; its --output must end in .png, got {output}")
    if output is not None:
        free(output, overwrite=overwrite)
    repertoire = load(path)
    summary = summarise(repertoire)
    if output is not None:
        from dcrl.figures.maps import archive_map

        archive_map(repertoire.archive, repertoire.space, repertoire.task, output)
    if json:
        printing.print_json(asdict(summary) | {"map": None if output is None else str(output)})
        return 0
    console = printing.console()
    described = lines(summary)
    if output is not None:
        described.append(("map", str(output)))
    elif repertoire.space.size != 2:
        described.append(("map", "use --output FILE.png; a terminal shows descriptors of 2 dimensions only"))
    for label, text in described:
        console.print(folded(label, text, console.width), soft_wrap=True)
    if output is None and repertoire.space.size == 2:
        width = min(WIDTH, console.width)
        drawn = picture(repertoire, width, width // 4 * 2)
        console.print()
        colours = console.color_system and not console.no_color and console.encoding.startswith("utf")
        console.print(coloured(drawn) if colours else plain(drawn[::2]), soft_wrap=True)
    return 0


def lines(summary: Summary) -> list[tuple[str, str]]:
    """What is printed, as labels and texts."""

    def known(value: object) -> str:
        return "unknown" if value is None else f"{value:,}" if isinstance(value, int) else str(value)

    dimensions = zip(summary.descriptor_names, summary.descriptor_low, summary.descriptor_high, strict=True)
    bounds = listed(f"{name} from {low:g} to {high:g}" for name, low, high in dimensions)
    quantiles = summary.fitness_quantiles
    return [
        ("task", summary.task),
        ("algorithm", known(summary.algorithm)),
        ("seed", "unknown" if summary.seed is None else str(summary.seed)),
        ("evaluations", known(summary.evaluations)),
        ("policies", " - ".join(map(str, summary.layers)) + (", and an actor" if summary.has_actor else "")),
        ("QD score", f"{summary.qd_score:,.1f}"),
        ("coverage", f"{summary.coverage:.1%}, {summary.elites:,} of {plural(summary.cells, 'cell')}"),
        ("max fitness", "none" if summary.max_fitness is None else f"{summary.max_fitness:,.2f}"),
        ("fitness", "none" if quantiles is None else "min, quartiles, max: " + _numbers(quantiles)),
        ("descriptor", f"{bounds} ({summary.descriptor_unit})"),
    ]


def folded(label: str, text: str, width: int) -> str:
    """A label and its text, folded at spaces and indented if it is wider than the terminal."""
    parts = textwrap.wrap(text, max(width - LABEL, 1), break_long_words=False, break_on_hyphens=False) or [""]
    return f"{label:<{LABEL}}" + f"\n{'':<{LABEL}}".join(parts)


def plain(levels: Ints) -> str:
    """A digit per elite, 9 for the highest tenth of the fitness range; a dot where there is none."""
    return "\n".join("".join("." if level < 0 else str(level) for level in row) for row in levels)


def coloured(levels: Ints) -> Text:
    """Two points per character: the upper half in the foreground colour, the lower half in the background colour."""
    text = Text()
    for upper, lower in zip(levels[::2], levels[1::2], strict=True):
        for one, other in zip(upper, lower, strict=True):
            text.append("▀", style=f"{_colour(one)} on {_colour(other)}")
        text.append("\n")
    return text


def _colour(level: int) -> str:
    return EMPTY if level < 0 else COLOURS[level]


def _numbers(values: tuple[float, ...]) -> str:
    return "  ".join(f"{value:,.2f}" for value in values)
