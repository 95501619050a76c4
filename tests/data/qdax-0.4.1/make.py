"""Make the files of this folder with QDax 0.4.1, the last release whose repertoires have `save`.

A MAP-Elites run of QDax with its own MLP policies, centroids and genetic operator; the task is a formula, because only
the files matter. In an environment of its own, on Python 3.11:

    pip install "qdax==0.4.1" "jax==0.6.2" "jaxlib==0.6.2" "brax==0.12.3" "mujoco<3.4" "mujoco-mjx<3.4"
    python make.py
"""

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from qdax.core.containers.mapelites_repertoire import compute_cvt_centroids
from qdax.core.emitters.mutation_operators import isoline_variation
from qdax.core.emitters.standard_emitters import MixingEmitter
from qdax.core.map_elites import MAPElites
from qdax.core.neuroevolution.networks.networks import MLP

OBSERVATIONS, ACTIONS, HIDDEN, BOUND, CELLS, BATCH = 5, 2, 8, 3.0, 16, 8
network = MLP(layer_sizes=(HIDDEN, ACTIONS), final_activation=nn.tanh)
observations = jax.random.normal(jax.random.key(1), (4, OBSERVATIONS))


def score(genotypes, key):
    """A formula in place of episodes: the descriptor is the mean action, the fitness how little the policy does."""
    actions = jax.vmap(network.apply, in_axes=(0, None))(genotypes, observations)
    return -jnp.square(actions).mean(axis=(1, 2)), BOUND * actions.mean(axis=1), {}, key


def main():
    key = jax.random.PRNGKey(0)
    policies = jax.vmap(network.init, in_axes=(0, None))(jax.random.split(key, BATCH), observations[0])
    centroids, key = compute_cvt_centroids(
        num_descriptors=2, num_init_cvt_samples=2000, num_centroids=CELLS, minval=-BOUND, maxval=BOUND, random_key=key
    )
    vary = partial(isoline_variation, iso_sigma=0.2, line_sigma=0.2)
    emitter = MixingEmitter(mutation_fn=None, variation_fn=vary, variation_percentage=1.0, batch_size=BATCH)
    algorithm = MAPElites(scoring_function=score, emitter=emitter, metrics_function=lambda repertoire: {})
    repertoire, state, key = algorithm.init(policies, centroids, key)
    for _ in range(8):
        repertoire, state, _, key = algorithm.update(repertoire, state, key)
    repertoire.save("./")
    np.save("observations.npy", observations)  # what QDax's own network does, to compare with
    np.save("actions.npy", jax.vmap(network.apply, in_axes=(0, None))(repertoire.genotypes, observations))


if __name__ == "__main__":
    main()
