"""What a worker does: it opens the ordinary simulator of a task and plays chunks of episodes.

As a module it is a process on this machine, `python -m dcrl.simulators.worker FD`, which talks over that file
descriptor: first what to open, then chunk by chunk. A message is one JSON object and the arrays that go with it, as
safetensors.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors.numpy import load, save

from dcrl.networks.policies import Layers
from dcrl.simulators.packing import Packed, pack
from dcrl.tasks.gymnasium import GymnasiumTask
from dcrl.types import Array, Floats, Ints
from dcrl.user_code import importing
from dcrl.user_code.reference import is_reference

if TYPE_CHECKING:  # a worker that steps a Gymnasium environment starts without JAX and MuJoCo
    from dcrl.simulators.simulator import Simulator
    from dcrl.tasks.registry import AnyTask

POLL_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What a worker opens."""

    reference: str  # the task's name, or file.py:object with the whole path
    simulator: str
    threads: int | None  # of the mujoco simulator


class Player:
    """Owns a simulator in a worker."""

    def __init__(self, opening: Opening) -> None:
        from dcrl import simulators

        task = _task(opening.reference)
        _ = task.observation_size  # an environment that cannot be made here is an error now, not in the first episode
        self._simulator: Simulator = simulators.make(task, opening.simulator, opening.threads)

    def play(self, genotypes: Floats, starts: Ints, sizes: tuple[int, ...], record: bool) -> Packed:
        """Play one episode of each policy (B, P); `starts` (B, ...) are seeds of environments, or the keys' data."""
        from dcrl.simulators.gymnasium import GymnasiumSimulator

        layers = Layers(tuple(sizes))
        if isinstance(self._simulator, GymnasiumSimulator):
            return pack(self._simulator.play_from(genotypes, starts, layers, record=record))
        import jax

        keys = jax.random.wrap_key_data(jax.numpy.asarray(starts))
        return pack(self._simulator.play(genotypes, keys, layers, record=record))


def _task(reference: str) -> AnyTask:
    if is_reference(reference):  # without the built-in tasks, which import JAX and MuJoCo
        found = importing.load(reference, "task", (GymnasiumTask,))
        if isinstance(found, GymnasiumTask):
            return found
    from dcrl.tasks import registry

    return registry.get(reference)


def send(connection: Connection, about: dict[str, Any], arrays: dict[str, Array] | None = None) -> None:
    connection.send_bytes(json.dumps(about).encode())
    connection.send_bytes(save({name: np.ascontiguousarray(array) for name, array in (arrays or {}).items()}))


def receive(connection: Connection) -> tuple[dict[str, Any], dict[str, Array]]:
    about: dict[str, Any] = json.loads(connection.recv_bytes())
    return about, load(connection.recv_bytes())


def serve(connection: Connection) -> None:
    """Play what comes until the other side closes; what goes wrong in the task is an answer too."""
    try:
        player = None
        while True:
            about, arrays = receive(connection)
            try:
                if player is None:
                    player = Player(Opening(**about))
                    answer: Packed = {}
                else:
                    answer = player.play(arrays["genotypes"], arrays["starts"], about["sizes"], about["record"])
            except Exception as error:  # any exception that the task raises
                send(connection, {"error": " ".join(importing.described(error).split())})
            else:
                send(connection, {}, answer)
    except (EOFError, OSError):  # the other side is gone
        return


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    serve(Connection(int(sys.argv[1])))
