"""The script of a Slurm job array: an element runs its jobs in turn, and is requeued if it must stop.

Slurm sends SIGUSR1 before the time limit: the script stops its process, which leaves a checkpoint, and requeues the
element. It sends SIGTERM before a preemption: the process leaves a checkpoint, and Slurm requeues the element itself.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from dcrl.runs.started import LEFT
from dcrl.sweeps.job import COMMAND, Job, Order
from dcrl.sweeps.node import absolute

ELEMENTS = 1000  # of a job array at most: Slurm's default limit is 1,001
SIGNAL_SECONDS = 300  # before the time limit; a run needs seconds to stop


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What each job of the array asks Slurm for."""

    cpus: int
    gpus: int
    memory: int  # bytes
    time_limit: str
    options: tuple[str, ...]  # further ones, without dashes

    def directives(self) -> list[str]:
        gpus = [f"gres=gpu:{self.gpus}"] if self.gpus else []
        memory = f"mem={-(-self.memory // 2**20)}M"
        return [f"cpus-per-task={self.cpus}", *gpus, memory, f"time={self.time_limit}", *self.options]


def script(jobs: Sequence[Job], resources: Resources, at_once: int | None) -> str:
    """The text that `sbatch` takes. Element k runs the jobs k, k + elements, ..."""
    orders = [absolute(job.order) for job in jobs]
    elements = min(len(orders), ELEMENTS)
    limit = "" if at_once is None else f"%{at_once}"
    own = ["job-name=dcrl", f"array=0-{elements - 1}{limit}", "requeue", f"signal=B:USR1@{SIGNAL_SECONDS}"]
    log = shlex.quote(str(orders[0].output / "slurm-%A_%a.log"))
    directives = [*own, "open-mode=append", f"output={log}", *resources.directives()]
    choices = "\n".join(f"    {number}) {_choice(order)} ;;" for number, order in enumerate(orders))
    return "\n".join(
        (
            "#!/bin/bash",
            *(f"#SBATCH --{directive}" for directive in directives),
            _BODY.format(
                directory=shlex.quote(str(orders[0].directory)),
                choices=choices,
                count=len(orders),
                elements=elements,
                left=" ".join(LEFT),
                command=shlex.join((sys.executable, *COMMAND)),
            ),
        )
    )


def _choice(order: Order) -> str:
    names = {"run": order.run, "written": order.written, "log": order.log, "errors": order.errors}
    set_names = " ".join(f"{name}={shlex.quote(str(path))}" for name, path in names.items())
    start, resume = (shlex.join(order.arguments(some)) for some in (order.start, order.resume))
    return f"{set_names} start=({start}) resume=({resume})"


_BODY = """
cd {directory} || exit 2
child= stopped= again=
stop() {{ stopped=yes; if [ -n "$child" ]; then kill -TERM "$child" 2>/dev/null; fi; }}
trap 'again=yes; stop' USR1  # the time limit is near
trap stop TERM               # preempted, or cancelled

choose() {{
  case $1 in
{choices}
  esac
}}

status=0
for ((number = SLURM_ARRAY_TASK_ID; number < {count}; number += {elements})); do
  if [ -n "$stopped" ]; then break; fi
  choose "$number"
  mkdir -p "$(dirname "$run")"
  for _ in {{1..13}}; do  # a lost node may still seem to hold the run for two minutes
    if [ ! -s "$written/.lock" ] || [ -n "$stopped" ]; then break; fi
    sleep 10
  done
  arguments=("${{start[@]}}")
  for left in {left}; do if [ -e "$run/$left" ]; then arguments=("${{resume[@]}}"); fi; done
  {command} "${{arguments[@]}}" < /dev/null >> "$log" 2> "$errors" &
  child=$!
  wait "$child"
  code=$?
  while kill -0 "$child" 2>/dev/null; do  # a signal ended the wait, not the process
    wait "$child"
    code=$?
  done
  child=
  if [ "$code" -ne 0 ]; then status=1; fi
done
if [ -n "$again" ]; then exec scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID"; fi
exit "$status"
"""
