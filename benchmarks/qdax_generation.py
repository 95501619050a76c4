r"""QDax's DCRL-MAP-Elites, a generation at a time; run by the Python of an environment with QDax (see README.md).

    printf '\n\n\n' | path/to/qdax/bin/python benchmarks/qdax_generation.py --task ant_omni --horizon 250

prints one JSON line about what is run and three about the generations timed.
"""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import Any

import jax
import jax.numpy as jnp
from qdax.core.containers.mapelites_repertoire import compute_cvt_centroids
from qdax.core.emitters.dcrl_me_emitter import DCRLMEConfig, DCRLMEEmitter
from qdax.core.emitters.mutation_operators import isoline_variation
from qdax.core.map_elites import MAPElites
from qdax.core.neuroevolution.buffers.buffer import DCRLTransition
from qdax.core.neuroevolution.mdp_utils import init_population_controllers
from qdax.core.neuroevolution.networks.networks import MLP, MLPDC
from qdax.tasks.brax import v2 as tasks
from qdax.tasks.brax.v2.env_creators import create_brax_scoring_fn
from qdax.tasks.brax.v2.wrappers.reward_wrappers import ClipRewardWrapper, OffsetRewardWrapper
from qdax.utils.metrics import default_qd_metrics

from turns import CRITIC_HIDDEN, HIDDEN, Contestant, Job, Sizes, work

PACKAGES = ("qdax", "brax", "jax", "jaxlib", "flax", "mujoco", "numpy")
BACKEND = "spring"


def environment(job: Job) -> Any:
    """QDax's own task, its rewards shifted and clipped to be positive as DCRL needs them."""
    plain = tasks.create(job.task, episode_length=job.horizon, backend=BACKEND)
    return ClipRewardWrapper(OffsetRewardWrapper(plain, offset=tasks.reward_offset[job.task]))


def step(env: Any, policy: MLP, state: Any, parameters: Any, key: Any) -> tuple[Any, Any, Any, DCRLTransition]:
    """One control step, in the shape QDax's rollout wants. The emitter fills in both descriptors afterwards."""
    action = policy.apply(parameters, state.obs)
    after = env.step(state, action)
    unknown = jnp.full(env.descriptor_length, jnp.nan)
    transition = DCRLTransition(
        obs=state.obs,
        next_obs=after.obs,
        rewards=after.reward,
        dones=after.done,
        truncations=after.info["truncation"],
        actions=action,
        state_desc=state.info["state_descriptor"],
        next_state_desc=after.info["state_descriptor"],
        desc=unknown,
        desc_prime=unknown,
    )
    return after, parameters, key, transition


def emitter(env: Any, policy: MLP, actor: MLPDC, sizes: Sizes) -> DCRLMEEmitter:
    config = DCRLMEConfig(
        ga_batch_size=sizes.ga_offspring,
        dcrl_batch_size=sizes.pg_offspring,
        ai_batch_size=sizes.ai_offspring,
        critic_hidden_layer_size=CRITIC_HIDDEN,
        num_critic_training_steps=sizes.critic_steps,
        num_pg_training_steps=sizes.policy_steps,
        batch_size=sizes.batch_size,
        replay_buffer_size=sizes.replay_size,
        policy_learning_rate=5e-3,
    )
    variation = partial(isoline_variation, iso_sigma=0.005, line_sigma=0.05)
    return DCRLMEEmitter(config=config, policy_network=policy, actor_network=actor, env=env, variation_fn=variation)


def prepare(job: Job) -> Contestant:
    sizes, env = job.sizes, environment(job)
    layers = (*HIDDEN, env.action_size)
    policy = MLP(layer_sizes=layers, final_activation=jnp.tanh)
    actor = MLPDC(layer_sizes=layers, final_activation=jnp.tanh)
    for_policies, for_scoring, for_cells, for_start, for_run = jax.random.split(jax.random.key(0), 5)
    scoring = create_brax_scoring_fn(
        env,
        policy,
        tasks.descriptor_extractor[job.task],
        for_scoring,
        play_step_fn=partial(step, env, policy),
        episode_length=job.horizon,
        deterministic=False,
    )
    algorithm = MAPElites(
        scoring_function=scoring,
        emitter=emitter(env, policy, actor, sizes),
        metrics_function=partial(default_qd_metrics, qd_offset=0.0),
    )
    low, high = env.descriptor_limits
    centroids = compute_cvt_centroids(env.descriptor_length, sizes.cvt_samples, sizes.cells, low, high, for_cells)
    policies = init_population_controllers(policy, env, sizes.offspring, for_policies)
    repertoire, emitter_state, _ = algorithm.init(policies, centroids, for_start)

    # As QDax's examples do, generations are a scan of the algorithm's own update. Donating the state spares
    # QDax a copy of the replay buffer; what is donated must not share memory, hence the one copy here.
    @partial(jax.jit, donate_argnums=0)
    def generation(state: Any) -> Any:
        return jax.lax.scan(algorithm.scan_update, state, length=1)

    state = jax.tree.map(jnp.copy, (repertoire, emitter_state, for_run))
    del repertoire, emitter_state
    number = 0

    def advance() -> dict[str, Any]:
        nonlocal state, number
        state, metrics = jax.block_until_ready(generation(state))
        number += 1
        return {
            "generation": number,
            "steps": job.horizon,
            "coverage": float(metrics["coverage"][-1]) / 100,
            "max_fitness": float(metrics["max_fitness"][-1]),
        }

    for _ in range(job.warm_up):
        advance()
    about = {
        "what": f"qdax DCRLMEEmitter, {job.task}, brax {BACKEND}",
        "versions": {package: version(package) for package in PACKAGES},
        "devices": [str(device) for device in jax.devices()],
        "observation": env.observation_size,
        "actions": env.action_size,
        "descriptor": env.descriptor_length,
    }
    return Contestant(about=about, advance=advance)


if __name__ == "__main__":
    work(prepare)
