"""Operators: iso+line and policy gradients against NumPy, actor injection against the conditioned actor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from dcrl import keys
from dcrl.archive.archive import empty
from dcrl.archive.selection import select
from dcrl.learners import td3
from dcrl.learners.conditioning import normalise, similarity
from dcrl.learners.td3 import TD3
from dcrl.networks.policies import act_each, policy_layers, specialise
from dcrl.tasks.registry import BUILT_IN
from dcrl.variation import policy_gradient
from dcrl.variation.actor_injection import ActorInjection, ActorInjectionConfig, sample_descriptors
from dcrl.variation.iso_line import IsoLine, IsoLineConfig
from dcrl.variation.operator import Sources
from dcrl.variation.policy_gradient import PolicyGradient, PolicyGradientConfig
from dcrl.variation.targets import gradient_targets
from support.by_hand import Adam, Network, ascend, doubles, vector
from support.variation import LAYERS, LEARNER, SPACE, filled_archive, filled_replay, trained_and_climbed


def test_iso_line_is_its_formula():
    archive, key = filled_archive(), keys.root(3)
    operator = IsoLine(count=7, descriptor=SPACE, config=IsoLineConfig(iso_sigma=0.01, line_sigma=0.3))
    offspring = operator.vary(Sources(archive=archive), key)
    first = doubles(archive.genotype[select(archive, keys.stream(key, "first parents"), 7)])
    second = doubles(archive.genotype[select(archive, keys.stream(key, "second parents"), 7)])
    iso = doubles(jax.random.normal(keys.stream(key, "iso"), first.shape))
    line = doubles(jax.random.normal(keys.stream(key, "line"), (7, 1)))
    np.testing.assert_allclose(offspring.genotype, first + 0.01 * iso + 0.3 * line * (second - first), atol=1e-6)
    assert offspring.genotype.dtype == np.float32
    assert np.isnan(offspring.target).all()  # each aims at what it achieves
    assert (first != second).any(axis=1).sum() >= 5  # the parents are drawn independently


def test_iso_line_has_the_papers_spread():
    archive = filled_archive(parameters=2000, elites=1)  # one elite: both parents are the same
    offspring = IsoLine(count=20, descriptor=SPACE).vary(Sources(archive=archive), keys.root(0)).genotype
    deviation = offspring - archive.genotype[archive.occupied]
    assert deviation.std() == pytest.approx(0.005, rel=0.02)
    assert abs(deviation.mean()) < 1e-4
    with pytest.raises(ValueError, match=r"must be at least 0 and finite, got -0\.1"):
        IsoLineConfig(iso_sigma=-0.1)


def climbed_by_hand(
    config: PolicyGradientConfig, critic: object, parents: np.ndarray, conditions: np.ndarray, seen: np.ndarray
) -> np.ndarray:
    network = Network((5 + 3 + conditions.shape[1], 16, 12, 1), vector(critic))
    offspring = []
    for parent, condition in zip(doubles(parents), doubles(conditions), strict=True):
        adam = Adam(config.policy_learning_rate)
        for batch in doubles(seen):
            rows = np.broadcast_to(condition, (len(batch), len(condition)))
            parent = ascend(Network(LAYERS.sizes, parent), batch, network, batch, rows, adam)
        offspring.append(parent)
    return np.array(offspring)


@pytest.mark.parametrize("descriptor_size", [2, 0], ids=["conditioned", "plain"])
def test_policy_gradient_steps_equal_those_by_hand(descriptor_size):
    learner = TD3(
        observation_size=5,
        action_size=3,
        descriptor_size=descriptor_size,
        actor_hidden=(14, 10),
        config=LEARNER.config,
    )
    config = PolicyGradientConfig(policy_steps=4)
    random = np.random.default_rng(4)
    critic = learner.init(keys.root(5)).critics[0].online
    parents = 0.5 * random.normal(size=(7, LAYERS.parameters)).astype(np.float32)
    conditions = random.uniform(-1, 1, (7, descriptor_size)).astype(np.float32)
    seen = random.normal(size=(4, 9, 5)).astype(np.float32)
    offspring = policy_gradient.climb(learner, LAYERS, config, critic, parents, conditions, seen)
    assert offspring.shape == parents.shape
    assert offspring.dtype == np.float32
    expected = climbed_by_hand(config, critic, parents, conditions, seen)
    np.testing.assert_allclose(offspring, expected, rtol=0, atol=2e-5)
    assert (np.abs(offspring - parents).max(axis=1) > 0.01).all()
    if descriptor_size:
        other = policy_gradient.climb(learner, LAYERS, config, critic, parents, -conditions, seen)
        assert (np.abs(other - offspring).max(axis=1) > 1e-3).all()
    alone = policy_gradient.climb(learner, LAYERS, config, critic, parents[5:6], conditions[5:6], seen)
    np.testing.assert_allclose(alone[0], offspring[5], rtol=0, atol=1e-6)  # neighbours do not matter


@pytest.mark.parametrize("kind", ["parent", "neighbour", "empty"])
def test_the_policy_gradient_operator_climbs_for_its_targets(kind):
    archive, replay, key = filled_archive(), filled_replay(), keys.root(8)
    state = LEARNER.init(keys.root(6))
    config = PolicyGradientConfig(policy_steps=4)
    operator = PolicyGradient(count=7, learner=LEARNER, layers=LAYERS, descriptor=SPACE, config=config, target=kind)
    replay.observation[replay.size :] = np.nan  # only what was inserted may be drawn
    offspring = operator.vary(Sources(archive=archive, learned=(state,), replay=replay), key)
    cells = select(archive, keys.stream(key, "parents"), 7)
    index = np.asarray(jax.random.randint(keys.stream(key, "samples"), (4, 9), 0, replay.size))
    targets = gradient_targets(kind, archive, cells)  # test_targets.py has their values
    assert (targets == archive.descriptor[cells]).all() == (kind == "parent")
    expected = climbed_by_hand(
        config, state.critics[0].online, archive.genotype[cells], normalise(SPACE, targets), replay.observation[index]
    )
    np.testing.assert_array_equal(offspring.target, targets)
    np.testing.assert_allclose(offspring.genotype, expected, rtol=0, atol=2e-5)


ON_DEVICES = """
import sys
import jax, numpy as np
from support.variation import trained_and_climbed
assert jax.local_device_count() == int(sys.argv[1])
np.savez(sys.argv[2], **trained_and_climbed())
"""


@pytest.mark.slow
@pytest.mark.data
def test_the_number_of_devices_does_not_matter(tmp_path):
    here = trained_and_climbed()
    devices = 1 if jax.local_device_count() > 1 else 2
    environment = os.environ | {
        "XLA_FLAGS": f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count={devices}",
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }
    path = tmp_path / "others.npz"
    subprocess.run([sys.executable, "-c", ON_DEVICES, str(devices), path], check=True, env=environment, timeout=300)
    with np.load(path) as others:
        for name, values in here.items():
            np.testing.assert_array_equal(others[name], values, err_msg=name)
    assert np.abs(here["trained"] - here["before"]).max() > 1e-3


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_injected_policy_acts_as_the_actor_does_under_the_same_descriptor(name):
    task = BUILT_IN[name]
    layers = policy_layers(task.observation_size, task.action_size)
    learner = TD3(
        observation_size=task.observation_size,
        action_size=task.action_size,
        descriptor_size=task.descriptor.size,
        actor_hidden=layers.sizes[1:-1],
    )
    random = np.random.default_rng(0)
    shape, size = learner.actor_layers, task.descriptor.size
    parameters = random.normal(size=shape.parameters).astype(np.float32)
    actor = shape.split(parameters)
    for kernel, bias in actor:  # in place
        kernel *= len(kernel) ** -0.5
        bias *= 0.1
    descriptors = random.uniform(task.descriptor.low, task.descriptor.high, (20, size)).astype(np.float32)
    conditions = normalise(task.descriptor, descriptors)
    seen = random.normal(size=(20, task.observation_size)).astype(np.float32)
    injected = specialise(shape, parameters, conditions)
    assert injected.shape == (20, layers.parameters)
    assert injected.dtype == np.float32
    found = act_each(layers.split(injected), seen)
    np.testing.assert_allclose(found, jax.jit(learner.policy)(actor, seen, conditions), rtol=0, atol=1e-6)
    conditioned = doubles(np.concatenate([seen, conditions], axis=1))
    by_hand = np.tanh(Network(shape.sizes, doubles(parameters)).forward(conditioned)[-1])
    np.testing.assert_allclose(found, by_hand, rtol=0, atol=1e-6)
    assert found.std() > 0.05

    operator = ActorInjection(count=5, learner=learner, descriptor=task.descriptor)
    archive = empty(np.zeros((4, size), np.float32), layers.parameters)
    learned = td3.TD3State(critics=(), actor=td3.Network(online=actor, target=actor, optimiser=None))
    offspring = operator.vary(Sources(archive=archive, learned=(learned,)), keys.root(2))
    assert offspring.genotype.shape == (5, archive.genotype.shape[1])
    expected = specialise(shape, parameters, normalise(task.descriptor, offspring.target))
    np.testing.assert_array_equal(offspring.genotype, expected)


def test_the_target_actor_can_be_injected_instead():
    state = LEARNER.init(keys.root(0))
    other = LEARNER.init(keys.root(1)).actor.online
    learned = state._replace(actor=state.actor._replace(target=other))
    for injected, network in (("online", state.actor.online), ("target", other)):
        config = ActorInjectionConfig(injected=injected)
        operator = ActorInjection(count=5, learner=LEARNER, descriptor=SPACE, config=config)
        found = operator.vary(Sources(archive=filled_archive(), learned=(learned,)), keys.root(2))
        parameters = np.asarray(vector(network), np.float32)
        expected = specialise(LEARNER.actor_layers, parameters, normalise(SPACE, found.target))
        np.testing.assert_array_equal(found.genotype, expected)
    with pytest.raises(ValueError, match="injected must be online or target, got 'both'"):
        ActorInjectionConfig(injected="both")


def test_a_share_of_the_injected_actors_can_be_gentle():
    """Their outputs before tanh are multiplied by a factor of each policy, drawn log-uniformly from [0.2, 1]."""
    sources = Sources(archive=filled_archive(), learned=(LEARNER.init(keys.root(0)),))
    full, gentle = (
        ActorInjection(count=400, learner=LEARNER, descriptor=SPACE, config=config).vary(sources, keys.root(2))
        for config in (ActorInjectionConfig(), ActorInjectionConfig(gentle=0.75))
    )
    np.testing.assert_array_equal(gentle.target, full.target)
    np.testing.assert_array_equal(gentle.genotype[300:], full.genotype[300:])
    seen = np.random.default_rng(0).normal(size=(400, LAYERS.sizes[0])).astype(np.float32)
    before, after = (np.arctanh(doubles(act_each(LAYERS.split(each.genotype), seen)))[:300] for each in (full, gentle))
    factor = after[:, :1] / before[:, :1]
    np.testing.assert_allclose(after, factor * before, rtol=1e-3, atol=1e-5)
    share = np.log(factor) / np.log(0.2)  # uniform between 0 and 1
    assert (share > -1e-3).all()
    assert (share < 1 + 1e-3).all()
    counts = np.histogram(share, bins=3, range=(0, 1))[0]
    assert ((counts > 65) & (counts < 137)).all()  # 100 +- 4.5 standard deviations
    with pytest.raises(ValueError, match=r"gentle must lie in \[0, 1\], got 1\.5"):
        ActorInjectionConfig(gentle=1.5)


def test_injection_draws_descriptors_uniformly_from_the_space():
    archive = empty(np.zeros((4, 2), np.float32), 3)
    drawn = sample_descriptors("uniform", archive, SPACE, 5000, keys.root(0))
    low, high = np.array(SPACE.low), np.array(SPACE.high)
    assert ((drawn >= low) & (drawn <= high)).all()
    counts = np.histogramdd(drawn, bins=5, range=list(zip(low, high, strict=True)))[0]
    assert ((counts > 140) & (counts < 265)).all()  # 200 +- 4.5 standard deviations


def test_injection_can_draw_descriptors_from_the_archive():
    archive = filled_archive()
    learner_state = LEARNER.init(keys.root(0))
    operator = ActorInjection(
        count=40, learner=LEARNER, descriptor=SPACE, config=ActorInjectionConfig(injection="archive")
    )
    target = operator.vary(Sources(archive=archive, learned=(learner_state,)), keys.root(1)).target
    elites = {tuple(row) for row in archive.descriptor[archive.occupied]}
    assert {tuple(row) for row in target} <= elites
    assert len({tuple(row) for row in target}) > 10


def test_normalised_descriptors_span_minus_one_to_one():
    values = np.array([SPACE.low, SPACE.high, (0.0, 0.5), (15.0, 0.25)])
    np.testing.assert_allclose(normalise(SPACE, values), [[-1, -1], [1, 1], [0, 0], [0.5, -0.5]], atol=1e-7)


def test_similarity_is_an_exponential_of_the_normalised_distance():
    random = np.random.default_rng(0)
    achieved, target = (random.uniform(SPACE.low, SPACE.high, (50, 2)) for _ in range(2))
    distance = [
        (((a[0] - t[0]) / 30) ** 2 + ((a[1] - t[1]) / 0.5) ** 2) ** 0.5 for a, t in zip(achieved, target, strict=True)
    ]
    found = similarity(normalise(SPACE, achieved), normalise(SPACE, target), 0.1)
    np.testing.assert_allclose(found, np.exp(-10 * np.array(distance)), rtol=1e-4)
    np.testing.assert_array_equal(similarity(normalise(SPACE, achieved), normalise(SPACE, achieved), 0.1), 1)
