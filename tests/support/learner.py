"""A small actor-critic for the tests of learners."""

from __future__ import annotations

from dataclasses import replace

from dcrl.learners.td3 import TD3, TD3Config

BATCH = 12
CONFIG = TD3Config(critic_hidden=(16, 12), critic_steps=20, batch_size=BATCH, target_rate=0.1, replay_size=200)


def learner(descriptor_size: int = 2, *, conditioned_actor: bool = True, **settings: object) -> TD3:
    return TD3(
        observation_size=5,
        action_size=3,
        descriptor_size=descriptor_size,
        actor_hidden=(14, 10),
        conditioned_actor=conditioned_actor,
        config=replace(CONFIG, **settings),
    )
