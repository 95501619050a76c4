"""The interface of a simulator: it plays one episode of each policy of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

from dcrl.networks.policies import Layers
from dcrl.types import Evaluation, Floats

if TYPE_CHECKING:  # a worker process that steps a Gymnasium environment starts without JAX
    import jax


class Simulator(Protocol):
    """A resource that plays the episodes of one task: it owns models, threads and memory until it is closed.

    Open it with `with simulators.make(task) as simulator:`. Whoever makes a simulator closes it; none is shared.
    An episode's outcome depends on its genotype and its key alone: not on its neighbours in the batch,
    on how the batch is split, or on the number of threads (on `mjx`, up to float32 rounding).
    """

    overlap: bool
    """Whether episodes may be played in another thread while JAX trains."""
    compiles: bool
    """Whether the first batch of each size is slow, because it is compiled."""

    def play(self, genotypes: Floats, keys: jax.Array, layers: Layers, *, record: bool) -> Evaluation:
        """Play one episode of each policy (B, P) from the start its key (B,) gives.

        Descriptors come as the task measured them, not yet clipped. `record` keeps the transitions.
        """
        ...

    def close(self) -> None:
        """Free threads and memory. A second call does nothing; a closed simulator plays no more."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def closed_error(task: str) -> RuntimeError:
    """What `play` raises once the simulator is closed."""
    return RuntimeError(f"the simulator of {task} is closed; open another with simulators.make")
