"""Repertoires chosen from, shown, merged, regridded and exchanged: by hand, and end to end on small real runs."""

from __future__ import annotations

import csv
import dataclasses
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import dcrl
from dcrl.archive.archive import cell_of
from dcrl.archive.centroids import centroids
from dcrl.cli import show
from dcrl.cli.main import command
from dcrl.networks import Layers
from dcrl.runs.combine import merge, regrid
from dcrl.runs.exchange import from_csv, from_pyribs, to_csv, to_pyribs
from dcrl.runs.repertoire import save
from dcrl.runs.summary import picture, summarise
from dcrl.types import Descriptor

ARRAYS = ("centroids", "occupied", "fitness", "descriptor", "genotype")
SPACE = Descriptor(names=("x", "y"), unit="m", low=(0.0, 0.0), high=(4.0, 2.0), over="last")
SHARED = ("--cells", "64", "--cvt-samples", "1000", "--hidden", "16", "16", "--evaluations", "96", "--quiet")
LEARNING = ("--critic-steps", "20", "--critic-hidden", "16", "16", "--policy-steps", "5", "--replay-size", "3000")
RUNS = {
    "dcrl_me": ("--ga-offspring", "8", "--pg-offspring", "4", "--ai-offspring", "4", *LEARNING),
    "me": ("--ga-offspring", "32", "--seed", "1"),
}


def made(fitness: list[float], places: list[tuple[float, float]] | None = None, **other) -> dcrl.Repertoire:
    """Four cells along x, with centroids at 0.5, 1.5, 2.5 and 3.5; NaN makes one empty."""
    middle = np.array([[0.5, 1], [1.5, 1], [2.5, 1], [3.5, 1]], np.float32)
    value = np.array(fitness, np.float32)
    there = ~np.isnan(value)
    spots = np.where(there[:, None], middle if places is None else np.array(places, np.float32), np.nan)
    values = {
        "task": "line",
        "layers": Layers((1, 1)),
        "space": SPACE,
        "centroids": middle,
        "occupied": there,
        "fitness": value,
        "descriptor": spots.astype(np.float32),
        "genotype": np.where(there[:, None], value[:, None] * [1, 10], 0).astype(np.float32),
    }
    return dcrl.Repertoire(**(values | other))


def assert_same(a: dcrl.Repertoire, b: dcrl.Repertoire) -> None:
    for name in ARRAYS:
        assert getattr(a, name).dtype == getattr(b, name).dtype
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name
    assert (a.task, a.layers, a.space) == (b.task, b.layers, b.space)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Path]:
    output = tmp_path_factory.mktemp("runs")
    found = {}
    for name, flags in RUNS.items():
        assert command(["train", "point_omni", "--algorithm", name, "--output", str(output), *flags, *SHARED]) == 0
        found[name] = output / "point_omni" / name / f"seed-{1 if name == 'me' else 0}"
    return found


def ran(*arguments: object) -> int:
    return command([str(argument) for argument in arguments])


def refused(capsys, *arguments: object) -> str:
    """The one line of a refusal."""
    assert ran(*arguments) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert said.err.startswith("dcrl: ")
    return said.err


# Choosing


def test_nearest_and_policy_for_by_hand():
    repertoire = made([1, 5, np.nan, 3], [(0.9, 1), (1.5, 1), (0, 0), (3.9, 1)])
    assert repertoire.nearest([2, 1], 4).tolist() == [1, 0, 3]  # 0.5, 1.1 and 1.9 away
    assert repertoire.nearest([2, 1], 2).tolist() == [1, 0]
    assert repertoire.nearest([4, 1], 1).tolist() == [3]
    assert repertoire.nearest([0, 1], 9, minimum_fitness=3).tolist() == [1, 3]
    assert repertoire.nearest([0, 1], 9, minimum_fitness=3.01).tolist() == [1]
    assert repertoire.policy_for([0, 1])([0.1]) == repertoire.policy(0)([0.1])
    assert repertoire.policy_for([0, 1], minimum_fitness=2)([0.1]) == repertoire.policy(1)([0.1])
    with pytest.raises(ValueError, match=r"no elite has a fitness of at least 6; the best has 5\.0"):
        repertoire.policy_for([0, 1], minimum_fitness=6)
    with pytest.raises(ValueError, match="the number of elites must be at least 1, got 0"):
        repertoire.nearest([0, 1], 0)
    with pytest.raises(ValueError, match="a descriptor of line is 2 numbers"):
        repertoire.nearest([0], 1)
    with pytest.raises(ValueError, match="the repertoire is empty"):
        made([np.nan] * 4).nearest([0, 1], 1)


def test_equally_near_elites_come_by_their_cells():
    assert made([1, 1, 1, 1]).nearest([2, 1], 4).tolist() == [1, 2, 0, 3]


def test_within_by_hand():
    repertoire = made([1, 5, np.nan, 3])
    assert repertoire.within([0, 0], [4, 2]).tolist() == [0, 1, 3]
    assert repertoire.within([1.5, 1], [3.5, 1]).tolist() == [1, 3]  # its sides included
    assert repertoire.within([1.6, 0], [3.4, 2]).tolist() == []
    assert repertoire.within([-np.inf, 0], [1, np.inf]).tolist() == [0]
    for low, high in (([1, 0], [0, 2]), ([0], [1]), ([np.nan, 0], [1, 1]), (0, 1)):
        with pytest.raises(ValueError, match="a box in the descriptors of line is 2 numbers low and as many high"):
            repertoire.within(low, high)


def test_choosing_from_a_run_is_as_numpy_says(runs):
    repertoire = dcrl.load(runs["dcrl_me"])
    cells = np.flatnonzero(repertoire.occupied)
    middle = float(np.median(repertoire.fitness[cells]))
    for wanted in np.random.default_rng(0).uniform(-3, 3, (10, 2)):
        distance = {int(cell): float(np.hypot(*(repertoire.descriptor[cell] - wanted))) for cell in cells}
        assert repertoire.nearest(wanted, 5).tolist() == sorted(distance, key=distance.get)[:5]
        good = [cell for cell in distance if repertoire.fitness[cell] >= middle]
        assert repertoire.nearest(wanted, 3, middle).tolist() == sorted(good, key=distance.get)[:3]
        high = wanted + 1
        inside = [
            cell
            for cell in cells
            if all(wanted <= repertoire.descriptor[cell]) and all(repertoire.descriptor[cell] <= high)
        ]
        assert repertoire.within(wanted, high).tolist() == inside


# Merging and regridding


def test_merging_by_hand(tmp_path):
    first = made([1, 5, np.nan, np.nan], algorithm="me", seed=1, evaluations=10, actor_parameters=np.zeros(4))
    second = made([2, 4, 3, np.nan], algorithm="me", seed=2, evaluations=30)
    third = made([2, np.nan, 1, np.nan], algorithm="me", seed=3, evaluations=2)
    merged = merge([first, second, third])
    np.testing.assert_array_equal(merged.fitness, [2, 5, 3, np.nan])
    np.testing.assert_array_equal(merged.genotype, [[2, 20], [5, 50], [3, 30], [0, 0]])
    assert (merged.algorithm, merged.seed, merged.evaluations, merged.actor_parameters) == ("me", None, 42, None)
    save(tmp_path / "merged.safetensors", merged)
    assert_same(dcrl.load(tmp_path / "merged.safetensors"), merged)
    other = dataclasses.replace(second, algorithm="dcrl_me", evaluations=None)
    assert (merge([first, other]).algorithm, merge([first, other]).evaluations) == (None, None)


def test_of_equal_elites_the_firsts_stays():
    second = made([5, np.nan, np.nan, np.nan], [(0.1, 0.1)] + [(0, 0)] * 3)
    assert_same(merge([made([5, 1, 1, 1]), second]), made([5, 1, 1, 1]))


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"task": "plane"}, "its task is 'plane', the first one's is 'line'"),
        ({"layers": Layers((1, 2))}, r"its layers are \[1, 2\], the first one's are \[1, 1\]"),
        (
            {"space": dataclasses.replace(SPACE, high=(4.0, 3.0))},
            r"its descriptor's high is \(4.0, 3.0\), the first one's is \(4.0, 2.0\)",
        ),
        ({"space": dataclasses.replace(SPACE, over="mean")}, "its descriptor's over is 'mean'"),
    ],
)
def test_repertoires_that_do_not_belong_together_are_refused(other, sentence):
    with pytest.raises(ValueError, match=f"repertoire 3 of 3 cannot be merged into the first: {sentence}"):
        merge([made([1] * 4), made([1] * 4), made([1] * 4, **other)])


def test_merge_end_to_end(runs, tmp_path, capsys):
    output = tmp_path / "merged.safetensors"
    assert ran("merge", runs["dcrl_me"], runs["me"], "--output", output, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    one, other, merged = (dcrl.load(path) for path in (runs["dcrl_me"], runs["me"], output))
    best = np.where(one.occupied, one.fitness, -np.inf)
    for cell, place in zip(
        np.flatnonzero(other.occupied), cell_of(one.centroids, other.descriptor[other.occupied]), strict=True
    ):
        best[place] = max(best[place], other.fitness[cell])
    np.testing.assert_array_equal(np.where(merged.occupied, merged.fitness, -np.inf), best)
    assert merged.actor_parameters is None
    assert merged.evaluations == one.evaluations + other.evaluations
    assert told["elites"] == np.isfinite(best).sum()
    assert told["qd_score"] == pytest.approx(best[np.isfinite(best)].sum(dtype=np.float64))
    before = output.read_bytes()
    line = ("merge", runs["dcrl_me"], runs["me"], "--output", output)
    assert "exists already; --overwrite replaces it" in refused(capsys, *line)
    assert ran(*line, "--overwrite") == 0
    assert output.read_bytes() == before
    assert f"{output}: {told['elites']} elites in 64 cells" in capsys.readouterr().out
    assert "at least 2 repertoires, got 1" in refused(capsys, "merge", runs["me"], "--output", tmp_path / "x")
    assert "there is no directory" in refused(capsys, *line[:3], "--output", tmp_path / "nowhere" / "x")
    assert "is a directory" in refused(capsys, *line[:3], "--output", tmp_path)


def test_regridding_by_hand(monkeypatch, tmp_path):
    monkeypatch.setenv("DCRL_CACHE", str(tmp_path))
    repertoire = made([1, 5, np.nan, 3], algorithm="me", seed=7)
    one = regrid(repertoire, 1, samples=50)
    assert (one.fitness.tolist(), one.genotype.tolist()) == ([5.0], [[5.0, 50.0]])
    many = regrid(repertoire, 60, seed=2, samples=500)
    np.testing.assert_array_equal(many.centroids, centroids(SPACE, 60, 500, 2))
    assert sorted(many.fitness[many.occupied].tolist()) == [1, 3, 5]
    assert sorted(cell_of(many.centroids, repertoire.descriptor[[0, 1, 3]])) == np.flatnonzero(many.occupied).tolist()
    assert (many.algorithm, many.seed) == ("me", 7)


def test_regrid_end_to_end(runs, tmp_path, capsys):
    output = tmp_path / "coarse.safetensors"
    line = ("regrid", runs["me"], "--cells", 9, "--cvt-samples", 500, "--output", output)
    assert ran(*line) == 0
    fine, coarse = dcrl.load(runs["me"]), dcrl.load(output)
    assert coarse.centroids.shape == (9, 2)
    cells = cell_of(coarse.centroids, fine.descriptor[fine.occupied])
    for cell in range(9):
        inside = fine.fitness[fine.occupied][cells == cell]
        assert coarse.fitness[cell] == inside.max() if len(inside) else not coarse.occupied[cell]
    assert "--overwrite" in refused(capsys, *line)
    assert "at least 1 cell" in refused(capsys, *line[:3], 0, "--output", tmp_path / "x")
    assert "the seed must be" in refused(capsys, *line[:3], 9, "--seed", -1, "--output", tmp_path / "x")


# Exchanging


def test_a_table_by_hand(tmp_path):
    path = tmp_path / "elites.csv"
    to_csv(path, made([1, np.nan, -0.0, 0.1]))
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["cell", "fitness", "d0", "d1", "g0", "g1"]
    assert rows[1] == ["0", "1.0", "0.5", "1.0", "1.0", "10.0"]
    assert rows[2] == ["2", "-0.0", "2.5", "1.0", "-0.0", "-0.0"]
    assert [row[0] for row in rows[1:]] == ["0", "2", "3"]
    assert np.float32(rows[3][1]) == np.float32(0.1)


def test_any_float_comes_back_bit_for_bit(tmp_path):
    random = np.random.default_rng(0)
    bits = random.integers(0, 2**32, (4, 5000), dtype=np.uint32).view(np.float32)
    genotype = np.where(np.isfinite(bits), bits, np.float32(1e-45))
    repertoire = made([1e-40, -3e37, 16777217, 1 / 3], layers=Layers((4999, 1)), genotype=genotype)
    to_csv(tmp_path / "elites.csv", repertoire)
    assert_same(from_csv(tmp_path / "elites.csv", repertoire), repertoire)


def test_convert_there_and_back(runs, tmp_path, capsys):
    table, back = tmp_path / "elites.csv", tmp_path / "archive.safetensors"
    assert ran("convert", runs["dcrl_me"], "--output", table) == 0
    assert ran("convert", table, "--like", runs["dcrl_me"], "--output", back) == 0
    original, found = dcrl.load(runs["dcrl_me"]), dcrl.load(back)
    assert_same(found, original)
    assert (found.algorithm, found.seed, found.evaluations) == ("dcrl_me", 0, 96)
    assert "--overwrite" in refused(capsys, "convert", runs["dcrl_me"], "--output", table)
    wrong = ("convert", table, "--output", tmp_path / "new.safetensors")
    assert "name a run that does with --like" in refused(capsys, *wrong)
    assert "--like goes with a .csv" in refused(
        capsys, "convert", runs["me"], "--like", runs["me"], "--output", tmp_path / "b.csv"
    )
    for pair in ((runs["me"], "b.safetensors"), (table, "b.csv"), (table, "b.txt")):
        assert "convert a repertoire to a .csv, or a .csv to a .safetensors" in refused(
            capsys, "convert", pair[0], "--output", tmp_path / pair[1]
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive.safetensors", "elites.csv"]


HEAD = "cell,fitness,d0,d1,g0,g1\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"must have the 6 columns \['cell', 'fitness', .* of line, got 0"),
        ("cell,fitness\n", "must have the 6 columns .* got 2"),
        (HEAD + "0,1,1,1,1\n", "elites.csv, line 2: expected 6 columns, got 5"),
        (HEAD + "0,1,1,1,1,1\n4,1,1,1,1,1\n", "line 3: column 'cell' must be a whole number from 0 to 3, got '4'"),
        (HEAD + "-1,1,1,1,1,1\n", "line 2: column 'cell' must be"),
        (HEAD + "x,1,1,1,1,1\n", "line 2: column 'cell' must be"),
        (HEAD + "\n", "line 2: column 'cell' must be"),
        (HEAD + "0,one,1,1,1,1\n", "line 2: could not convert string to float: 'one'"),
        (HEAD + "0,nan,1,1,1,1\n", "tensor 'fitness' must be finite, but is not in row 0"),
        (HEAD + "0,1,1,1,1e39,1\n", "tensor 'genotype' must be finite"),
        (HEAD + "0,1,9,1,1,1\n", "tensor 'descriptor' must lie"),
        (HEAD + "1,1,1,1,1,1\n1,2,1,1,1,1\n", "has more than one elite for cell 1"),
        (HEAD + '0,"1,1,1,1,1\n', "cannot read"),
        (b"\xff\xfe\x00", "cannot read"),
        (HEAD + "0," + "1" * 200_000 + ",1,1,1,1\n", "cannot read .* field larger than field limit"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(tmp_path, text, sentence):
    path = tmp_path / "elites.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=sentence) as caught:
        from_csv(path, made([1, 1, 1, 1]))
    assert type(caught.value) is ValueError
    assert "elites.csv" in str(caught.value)


def test_a_table_without_elites_is_an_empty_repertoire(tmp_path):
    path = tmp_path / "elites.csv"
    path.write_text(HEAD)
    assert_same(from_csv(path, made([1, 1, 1, 1])), made([np.nan] * 4))


def test_pyribs_there_and_back(runs):
    original = dcrl.load(runs["dcrl_me"])
    archive = to_pyribs(original)
    assert len(archive) == original.occupied.sum()
    assert archive.stats.qd_score == pytest.approx(original.archive.qd_score, rel=1e-6)
    elites = archive.data()
    for row, cell in enumerate(elites["index"]):
        np.testing.assert_array_equal(elites["solution"][row], original.genotype[cell])
        np.testing.assert_array_equal(elites["measures"][row], original.descriptor[cell])
    assert_same(from_pyribs(archive, original), original)
    nothing = dataclasses.replace(made([np.nan] * 4), layers=Layers((1, 1)))
    assert_same(from_pyribs(to_pyribs(nothing), nothing), nothing)


def test_another_pyribs_archive_is_refused():
    like, archive = made([1, 2, np.nan, 3]), to_pyribs(made([1, 2, np.nan, 3]))
    with pytest.raises(ValueError, match=r"measures go from \(0.0, 0.0\) to \(4.0, 2.0\), the descriptor of line from"):
        from_pyribs(archive, dataclasses.replace(like, space=dataclasses.replace(SPACE, low=(-1.0, 0.0))))
    with pytest.raises(ValueError, match=r"a policy of line has 4 parameters, a solution there \(2,\)"):
        from_pyribs(archive, dataclasses.replace(like, layers=Layers((1, 2))))
    with pytest.raises(ValueError, match=r"expected a ribs\.archives\.CVTArchive, got a list"):
        from_pyribs([], like)


def test_without_pyribs_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "ribs.archives", None)
    with pytest.raises(ValueError, match=r"needs the package ribs; pip install 'ribs>=0\.9'"):
        to_pyribs(made([1, 2, 3, 4]))


# Showing


def test_a_summary_by_hand():
    summary = summarise(made([1, 5, np.nan, 3], algorithm="me", seed=2, evaluations=40))
    assert (summary.qd_score, summary.coverage, summary.max_fitness) == (9.0, 0.75, 5.0)
    assert (summary.cells, summary.elites) == (4, 3)
    assert summary.fitness_quantiles == (1, 2, 3, 4, 5)
    nothing = summarise(made([np.nan] * 4))
    assert (nothing.qd_score, nothing.max_fitness, nothing.fitness_quantiles) == (0, None, None)


def test_a_picture_by_hand():
    assert show.plain(picture(made([1, 5, np.nan, 3]), 8, 2)) == "0099..55\n0099..55"
    assert show.plain(picture(made([2, 2, 2, np.nan]), 4, 1)) == "000."
    assert show.plain(picture(made([np.nan] * 4), 4, 1)) == "...."
    upright = made([1, 5, np.nan, 3], centroids=np.array([[2, 0.25], [2, 0.75], [2, 1.25], [2, 1.75]], np.float32))
    assert show.plain(picture(upright, 2, 4)) == "55\n..\n99\n00"


def test_a_picture_in_colour():
    console = Console(force_terminal=True, color_system="truecolor", width=80)
    with console.capture() as captured:
        console.print(show.coloured(picture(made([1, 5, np.nan, 3]), 4, 2)))
    text = captured.get()
    assert text.count("▀") == 4
    assert "38;2;253;231;37;48;2;253;231;37" in text  # the best: yellow on yellow
    assert "38;2;58;58;58;48;2;58;58;58" in text  # empty: grey


def test_show_end_to_end(runs, tmp_path, capsys):
    repertoire = dcrl.load(runs["dcrl_me"])
    assert ran("show", runs["dcrl_me"]) == 0
    text = capsys.readouterr().out
    for expected in (
        "task         point_omni",
        "algorithm    dcrl_me",
        "seed         0",
        "evaluations  96",
        "policies     5 - 16 - 16 - 2, and an actor",
        f"QD score     {repertoire.archive.qd_score:,.1f}",
        f"{repertoire.occupied.sum()} of 64 cells",
        "descriptor   final x from -3 to 3, final y from -3 to 3 (m)",
    ):
        assert expected in text
    drawn = text.splitlines()[-show.HEIGHT // 2 :]
    assert drawn == show.plain(picture(repertoire, show.WIDTH, show.HEIGHT)[::2]).splitlines()
    assert {*"".join(drawn)} <= {*"0123456789."}
    assert "9" in "".join(drawn)
    picture_file = tmp_path / "map.png"
    assert ran("show", runs["dcrl_me"], "--output", picture_file, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["map"] == str(picture_file)
    assert (told["elites"], told["has_actor"], told["seed"]) == (int(repertoire.occupied.sum()), True, 0)
    assert told["max_fitness"] == float(repertoire.fitness[repertoire.occupied].max())
    assert picture_file.read_bytes().startswith(b"\x89PNG")
    assert "--overwrite replaces it" in refused(capsys, "show", runs["dcrl_me"], "--output", picture_file)
    assert ran("show", runs["dcrl_me"], "--output", picture_file, "--overwrite") == 0
    assert f"map          {picture_file}" in capsys.readouterr().out
    assert "must end in .png" in refused(capsys, "show", runs["me"], "--output", tmp_path / "map.jpg")
    assert "there is no repertoire at" in refused(capsys, "show", tmp_path)


def test_show_of_other_dimensions(tmp_path, capsys):
    space = Descriptor(names=("x",), unit="m", low=(0.0,), high=(4.0,), over="last")
    base = made([1, 5, np.nan, 3])
    flat = {name: getattr(base, name)[:, :1] for name in ("centroids", "descriptor")}
    save(tmp_path / "line.safetensors", dataclasses.replace(base, space=space, **flat))
    assert ran("show", tmp_path / "line.safetensors") == 0
    text = capsys.readouterr().out
    assert "algorithm    unknown" in text
    assert "a terminal shows descriptors of 2 dimensions only" in text
