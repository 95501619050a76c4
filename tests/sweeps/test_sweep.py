"""The laws of a sweep that hold on any backend: lost jobs come back a bounded number of times, failed ones do not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dcrl.sweeps.job import OUTPUT, Order
from dcrl.sweeps.mirror import Directory, fetch, push
from dcrl.sweeps.node import work
from dcrl.sweeps.process import Outcome
from dcrl.sweeps.sweep import Ended, Started, Sweep
from dcrl.sweeps.training import TrainingJob
from support.run_config import CONFIG


def order(output: Path, *start: str) -> Order:
    place = Path("point_omni") / "dcrl_me" / "seed-3"
    return Order(output=output, place=place, start=start, resume=start, directory=Path.cwd())


class Losing:
    """A backend on which every job ends at once, in the same way."""

    at_once, description = 1, "nowhere"

    def __init__(self, outcome: Outcome) -> None:
        self.outcome, self.submitted = outcome, []

    def __enter__(self) -> Losing:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def submit(self, job: TrainingJob) -> None:
        self.submitted.append(job)
        self.left = [job]

    def poll(self) -> list[Started | Ended]:
        jobs, self.left = self.left, []
        return [event for job in jobs for event in (Started(job=job), Ended(job=job, outcome=self.outcome))]

    def stop(self) -> None:
        pass


@pytest.mark.parametrize(("fate", "attempts"), [("lost", 3), ("failed", 1), ("done", 1)])
def test_lost_jobs_are_handed_out_again_and_then_fail_with_the_reason(tmp_path, fate, attempts) -> None:
    job = TrainingJob(config=CONFIG, own={}, order=order(tmp_path))
    backend = Losing(Outcome(fate=fate, reason="its node was lost"))
    sweep = Sweep(backend, [job], retries=2)
    resumed = 0
    while sweep.busy:
        resumed += sum(isinstance(event, Ended) and event.resumes for event in sweep.poll())
    assert (len(backend.submitted), resumed) == (attempts, attempts - 1)
    times = " (3 times)" if fate == "lost" else ""
    assert sweep.failed == ({} if fate == "done" else {job: f"its node was lost{times}"})


def test_a_node_refuses_what_it_cannot_do_with_one_sentence(tmp_path: Path) -> None:
    missing = order(tmp_path / "runs", "train", "nowhere/task.py:robot", "--output", OUTPUT)
    ended = work(missing, 1, {}, lambda: False)
    assert (ended.fate, ended.reason.startswith("dcrl: ")) == ("failed", True)
    assert "nowhere/task.py" in ended.reason
    (tmp_path / "file").touch()
    ended = work(order(tmp_path / "file", "train", "point_omni"), 1, {}, lambda: False)
    assert ended == Outcome(
        fate="failed", reason=f"cannot write to {tmp_path}/file/point_omni/dcrl_me: Not a directory"
    )
    assert work(missing, 1, {}, lambda: True).fate == "lost"  # asked to stop before it starts


def test_a_collected_run_is_whole_at_any_time(tmp_path: Path) -> None:
    here, there = order(tmp_path / "node"), order(tmp_path / "sweep")
    checkpoints = here.run / "checkpoints"
    checkpoints.mkdir(parents=True)
    for name, content in (("generation-1.json", b"{}"), ("generation-1.safetensors", b"1" * 5 * 2**20)):
        (checkpoints / name).write_bytes(content)
    (here.run / "metrics.csv").write_text("generation\n1\n")
    here.log.write_text("a line\n")
    (here.run / ".lock").write_text("not collected")
    written: list[str] = []

    class Recording(Directory):
        def write(self, name, offset, data, stamp) -> None:
            super().write(name, offset, data, stamp)
            written.extend([Path(name).name] if stamp else [])

    sent: dict = {}
    push(here, Recording(there.output), sent)
    assert written == ["generation-1.safetensors", "metrics.csv", "generation-1.json", "seed-3.log"]
    assert (there.run / "checkpoints" / "generation-1.safetensors").stat().st_size == 5 * 2**20
    assert not (there.run / ".lock").exists()
    (checkpoints / "generation-1.json").unlink()
    (checkpoints / "generation-2.json").write_text("{}")
    push(here, Recording(there.output), sent)
    assert written[4:] == ["generation-2.json"]
    assert [path.name for path in (there.run / "checkpoints").glob("*.json")] == ["generation-2.json"]
    back = order(tmp_path / "other")
    fetch(back, Directory(there.output))
    assert Directory(back.output).listing(back.place) == Directory(there.output).listing(there.place) == sent
    with pytest.raises(ValueError, match="is not below the output directory"):
        Directory(tmp_path).write("../outside", 0, b"", (0, 0))


def test_a_run_that_was_lost_before_its_first_checkpoint_starts_again(tmp_path: Path) -> None:
    here, there = order(tmp_path / "node", "train"), order(tmp_path / "sweep", "train")
    for name in ("config.json", "metrics.csv"):
        there.run.mkdir(parents=True, exist_ok=True)
        (there.run / name).write_text("0\n")
    assert there.has_started  # on one machine it is resumed, if only from its beginning
    sent = fetch(here, Directory(there.output))
    assert [path.name for path in here.run.iterdir()] == ["config.json"]
    assert not here.has_started
    push(here, Directory(there.output), sent)
    assert not there.has_started


def test_ray_is_needed_by_its_backend_alone() -> None:
    code = (
        "import sys; sys.modules['ray'] = None\n"
        "from dcrl.cli.main import command\n"
        "import dcrl.cli.sweep, dcrl.cli.evaluate\n"
        "sys.exit(command(['sweep', 'point_omni', '--backend', 'ray']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "dcrl: --backend ray is an optional extra: pip install 'dcrl-map-elites[ray]'\n"
