"""QDax's DCRL learner, asked and told over pipes; `qdax_learner.py` starts it with the Python of QDax's environment.

The first message holds the sizes, the centroids and the evaluated initial policies; every further one an evaluated
batch. Each is answered with the next batch of policies.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from qdax.core.emitters.dcrl_me_emitter import DCRLMEConfig, DCRLMEEmitter
from qdax.core.emitters.mutation_operators import isoline_variation
from qdax.core.map_elites import MAPElites
from qdax.core.neuroevolution.buffers.buffer import DCRLTransition
from qdax.core.neuroevolution.networks.networks import MLP, MLPDC
from qdax.utils.metrics import default_qd_metrics

from frames import Arrays, receive, send
from turns import CRITIC_HIDDEN, HIDDEN


def main() -> None:
    inbox, outbox = sys.stdin.buffer, os.fdopen(int(sys.argv[1]), "wb")  # libraries print to standard output
    first = receive(inbox)
    assert first is not None
    low, high = first["low"], first["high"]
    space = SimpleNamespace(
        descriptor_length=len(low),
        descriptor_limits=(jnp.asarray(low), jnp.asarray(high)),
        observation_size=first["observation"].shape[1],
        action_size=first["action"].shape[1],
    )
    sizes = (space.observation_size, *HIDDEN, space.action_size)
    horizon = int(first["horizon"])
    algorithm = MAPElites(
        scoring_function=None,
        emitter=emitter(space, sizes, _settings(first)),
        metrics_function=partial(default_qd_metrics, qd_offset=0.0),
    )
    key = jax.random.key(int(first["seed"]))
    told = {"fitnesses": jnp.asarray(first["fitness"]), "descriptors": jnp.asarray(first["descriptor"])}
    start = {"transitions": transitions(first, horizon, len(low))}
    repertoire, state, _ = algorithm.init_ask_tell(
        genotypes=tree(first["genotype"], sizes),
        centroids=jnp.asarray(first["centroids"]),
        key=key,
        extra_scores=start,
        **told,
    )
    ask = jax.jit(algorithm.ask)
    tell = jax.jit(algorithm.tell, donate_argnames=("emitter_state",))
    state = jax.tree.map(jnp.copy, state)  # what is donated must not share memory
    while True:
        key, own = jax.random.split(key)
        genotypes, info = ask(repertoire, state, own)
        send(outbox, {"genotype": flat(genotypes)})
        played = receive(inbox)
        if played is None:
            return
        repertoire, state, _ = tell(
            genotypes=genotypes,
            fitnesses=jnp.asarray(played["fitness"]),
            descriptors=jnp.asarray(played["descriptor"]),
            repertoire=repertoire,
            emitter_state=state,
            extra_scores={"transitions": transitions(played, horizon, len(low))},
            extra_info=info,
        )


def _settings(first: Arrays) -> dict[str, int]:
    own = "qdax_"
    return {name.removeprefix(own): int(value) for name, value in first.items() if name.startswith(own)}


def emitter(space: Any, sizes: tuple[int, ...], batches: dict[str, int]) -> DCRLMEEmitter:
    """The paper's settings, in QDax's reading of the rest."""
    return DCRLMEEmitter(
        config=DCRLMEConfig(**batches, critic_hidden_layer_size=CRITIC_HIDDEN, policy_learning_rate=5e-3),
        policy_network=MLP(layer_sizes=sizes[1:], final_activation=jnp.tanh),
        actor_network=MLPDC(layer_sizes=sizes[1:], final_activation=jnp.tanh),
        env=space,
        variation_fn=partial(isoline_variation, iso_sigma=0.005, line_sigma=0.05),
    )


def transitions(played: Arrays, horizon: int, dimensions: int) -> DCRLTransition:
    """(B, T, ...) as QDax's environments give them: after a fall the same episode starts again until the horizon."""
    steps, first = played["steps"], np.cumsum(played["steps"]) - played["steps"]
    time = np.arange(horizon)[None, :] % np.maximum(steps, 1)[:, None]
    row = first[:, None] + time
    last = time == steps[:, None] - 1
    terminated = played["terminated"][:, None]
    unknown = np.full((*row.shape, dimensions), np.nan, np.float32)
    return DCRLTransition(
        obs=jnp.asarray(played["observation"][row]),
        next_obs=jnp.asarray(played["next_observation"][row]),
        rewards=jnp.asarray(played["reward"][row]),
        dones=jnp.asarray(last.astype(np.float32)),
        truncations=jnp.asarray((last & ~terminated).astype(np.float32)),
        actions=jnp.asarray(played["action"][row]),
        state_desc=jnp.asarray(unknown),
        next_state_desc=jnp.asarray(unknown),
        desc=jnp.asarray(unknown),
        desc_prime=jnp.asarray(unknown),
    )


def tree(genotypes: np.ndarray, sizes: tuple[int, ...]) -> Any:
    """Flat policies (B, P), each layer's kernel row by row and then its bias, as Flax parameters."""
    layers, at, count = {}, 0, len(genotypes)
    for number, (inputs, outputs) in enumerate(pairwise(sizes)):
        kernel, bias = genotypes[:, at : at + inputs * outputs], genotypes[:, at + inputs * outputs :][:, :outputs]
        at += (inputs + 1) * outputs
        layers[f"Dense_{number}"] = {
            "kernel": jnp.asarray(kernel.reshape(count, inputs, outputs)),
            "bias": jnp.asarray(bias),
        }
    return {"params": layers}


def flat(genotypes: Any) -> np.ndarray:
    """The inverse of `tree`."""
    layers = genotypes["params"]
    parts = [layers[f"Dense_{n}"][name] for n in range(len(layers)) for name in ("kernel", "bias")]
    return np.concatenate([np.asarray(part).reshape(len(part), -1) for part in parts], axis=1)


if __name__ == "__main__":
    main()
