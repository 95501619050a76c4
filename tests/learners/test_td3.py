"""TD3 against gradients and Adam written out by hand, and its laws: falls, time limits, smoothing noise."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import jax
import numpy as np
import pytest

from dcrl import keys
from dcrl.learners import td3
from dcrl.learners.replay import Samples
from dcrl.learners.td3 import TD3, TD3Config, TD3State
from support.by_hand import Adam, Network, Values, ascend, doubles, vector
from support.learner import BATCH, learner


def random_samples(learner: TD3, seed: int, steps: int = 2) -> tuple[Samples, np.ndarray]:
    """Two steps' minibatches with some falls and time limits, and smoothing noise."""
    random = np.random.default_rng(seed)
    shape = (steps, BATCH)
    ending = random.integers(0, 4, shape)  # 0 a fall, 1 the time limit
    ending[:, :3] = 0, 1, 2
    samples = Samples(
        observation=random.normal(size=(*shape, 5)),
        action=random.uniform(-1, 1, (*shape, 3)),
        reward=random.normal(size=shape),
        next_observation=random.normal(size=(*shape, 5)),
        target=random.uniform(-1, 1, (*shape, learner.descriptor_size)),
        terminal=ending == 0,
        truncated=ending == 1,
    )
    noise = 0.4 * random.normal(size=(*shape, 3))  # every fifth beyond the clip of 0.5
    return jax.tree.map(np.float32, samples), np.asarray(noise, np.float32)


def random_state(learner: TD3, seed: int = 0) -> TD3State:
    """Fresh networks whose targets and biases differ from them, so that nothing can be mistaken for another."""
    random = np.random.default_rng(seed)
    state = learner.init(keys.root(seed))

    def near(parameters: object) -> object:
        return jax.tree.map(lambda x: jax.numpy.asarray(x + 0.1 * random.normal(size=x.shape), np.float32), parameters)

    def moved(network: object) -> object:
        return network._replace(online=near(network.online), target=near(network.online))

    return TD3State(critics=tuple(map(moved, state.critics)), actor=moved(state.actor))


@cache
def compiled(subject: TD3) -> Callable[..., TD3State]:
    return jax.jit(partial(td3.update, subject))


def networks(state: TD3State) -> dict[str, Values]:
    return {
        "critics": vector([critic.online for critic in state.critics]),
        "critic_targets": vector([critic.target for critic in state.critics]),
        "actor": vector(state.actor.online),
        "actor_target": vector(state.actor.target),
    }


class ByHand:
    """TD3 in NumPy; what each part is stands in Algorithm 2 of the paper."""

    def __init__(self, learner: TD3, state: TD3State) -> None:
        self.learner, config = learner, learner.config
        self.critics = [vector(critic.online) for critic in state.critics]
        self.critic_targets = [vector(critic.target) for critic in state.critics]
        self.actor, self.actor_target = vector(state.actor.online), vector(state.actor.target)
        self.critic_adam = [Adam(config.critic_learning_rate) for _ in range(2)]
        self.actor_adam = Adam(config.actor_learning_rate)
        self.updates = 0  # of the critics
        inputs, size = learner.observation_size, learner.descriptor_size
        self.actor_sizes = (inputs + size, *learner.actor_hidden, learner.action_size)
        self.critic_sizes = (inputs + learner.action_size + size, *config.critic_hidden, 1)

    def seen(self, observation: Values, target: Values) -> Values:
        return np.concatenate([observation, target if self.learner.conditioned_actor else 0 * target], axis=1)

    def critic(self, parameters: Values) -> Network:
        return Network(self.critic_sizes, parameters, normalised=self.learner.config.critic_norm == "layer")

    def bellman_target(self, s: Samples, noise: Values) -> Values:
        actor = Network(self.actor_sizes, self.actor_target)
        action = np.tanh(actor.forward(self.seen(s.next_observation, s.target))[-1])
        inputs = np.concatenate([s.next_observation, np.clip(action + noise, -1, 1), s.target], axis=1)
        values = [self.critic(target).forward(inputs)[-1][:, 0] for target in self.critic_targets]
        return s.reward + self.learner.config.discount * (1 - s.terminal) * np.minimum(*values)

    def decayed(self, rate: float) -> float:
        """A learning rate after the critic updates so far."""
        after = self.learner.config.rate_decay
        return rate if after is None or self.updates <= after else rate * after / self.updates

    def critic_step(self, s: Samples, y: Values) -> None:
        inputs = np.concatenate([s.observation, s.action, s.target], axis=1)
        for i in range(2):
            critic = self.critic(self.critics[i])
            values = critic.forward(inputs)
            error = (values[-1][:, 0] - y) * (1 - s.truncated)
            gradient, _ = critic.backward(values, (2 * error * (1 - s.truncated) / len(y))[:, None])
            self.critic_adam[i].rate = self.decayed(self.learner.config.critic_learning_rate)
            self.critics[i] = self.critics[i] + self.critic_adam[i].step(gradient)

    def actor_step(self, s: Samples) -> Values:
        actor, critic = Network(self.actor_sizes, self.actor), self.critic(self.critics[0])
        seen, penalty = self.seen(s.observation, s.target), self.learner.config.output_penalty
        return ascend(actor, seen, critic, s.observation, s.target, self.actor_adam, penalty)

    def move_critic_targets(self) -> None:
        self.critic_targets = [self.towards(*pair) for pair in zip(self.critic_targets, self.critics, strict=True)]

    def towards(self, target: Values, online: Values) -> Values:
        rate = self.learner.config.target_rate
        return (1 - rate) * target + rate * online

    def update(self, samples: Samples, noise: Values) -> None:
        steps = [jax.tree.map(lambda part, i=i: doubles(part[i]), samples) for i in range(len(noise))]
        every_step = self.learner.config.target_update == "every_step"
        actor = self.actor
        self.actor_adam.rate = self.decayed(self.learner.config.actor_learning_rate)
        for i, s in enumerate(steps):
            y = self.bellman_target(s, np.clip(doubles(noise[i]), -0.5, 0.5))
            if every_step and i == len(steps) - 1:
                actor = self.actor_step(s)  # the authors' code: by the critic before its last update
            self.critic_step(s, y)
            self.updates += 1
            if every_step:
                self.move_critic_targets()
        self.actor = actor if every_step else self.actor_step(steps[-1])
        if not every_step:
            self.move_critic_targets()
        self.actor_target = self.towards(self.actor_target, self.actor)


@pytest.mark.parametrize("target_update", ["delayed", "every_step"])
@pytest.mark.parametrize(
    ("descriptor_size", "conditioned_actor"),
    [(2, True), (0, True), (2, False)],
    ids=["conditioned", "plain", "ablated"],
)
def test_updates_equal_those_by_hand(target_update, descriptor_size, conditioned_actor):
    assert_updates_by_hand(
        learner(
            descriptor_size, conditioned_actor=conditioned_actor, target_update=target_update, critic_learning_rate=1e-3
        )
    )


def test_updates_with_normalised_critics_equal_those_by_hand():
    assert_updates_by_hand(learner(critic_norm="layer", critic_learning_rate=1e-3))


def test_updates_with_an_output_penalty_equal_those_by_hand():
    subject, without = (learner(output_penalty=penalty, critic_learning_rate=1e-3) for penalty in (0.5, 0.0))
    assert_updates_by_hand(subject)
    state, (samples, noise) = random_state(subject), random_samples(subject, 0)
    penalised, unlimited = (
        np.square(subject.before_tanh(after.actor.online, samples.observation[-1], samples.target[-1])).mean()
        for after in (compiled(subject)(state, samples, noise), compiled(without)(state, samples, noise))
    )
    assert penalised < unlimited


def assert_updates_by_hand(subject: TD3) -> None:
    state = random_state(subject)
    hand = ByHand(subject, state)
    before = networks(state)
    step = compiled(subject)
    for seed in range(3):  # more than one, so that Adam's memory and the moved targets count
        samples, noise = random_samples(subject, seed)
        state = step(state, samples, noise)
        hand.update(samples, noise)
        for name, values in networks(state).items():
            np.testing.assert_allclose(values, vector(getattr(hand, name)), rtol=0, atol=1e-5, err_msg=name)
    for name, change in (("critics", 1e-3), ("critic_targets", 1e-4), ("actor", 3e-4), ("actor_target", 3e-5)):
        assert np.abs(networks(state)[name] - before[name]).max() > change, name


def test_learning_rates_decrease_with_the_updates():
    subject, constant = (learner(rate_decay=decay, critic_learning_rate=1e-2) for decay in (3, None))
    state, undecayed = random_state(subject), random_state(constant)
    hand, step = ByHand(subject, state), compiled(subject)
    for seed in range(6):  # 12 critic updates: at the end the rates are a quarter of what they were
        samples, noise = random_samples(subject, seed)
        state, undecayed = step(state, samples, noise), compiled(constant)(undecayed, samples, noise)
        hand.update(samples, noise)
        for name, values in networks(state).items():
            np.testing.assert_allclose(values, vector(getattr(hand, name)), rtol=0, atol=2e-5, err_msg=name)
    assert np.abs(networks(state)["critics"] - networks(undecayed)["critics"]).max() > 1e-3


def test_the_bellman_target_is_that_by_hand():
    subject = learner()
    state = random_state(subject)
    samples, noise = random_samples(subject, 5)
    hand = ByHand(subject, state)
    expected = [
        hand.bellman_target(jax.tree.map(lambda part, i=i: doubles(part[i]), samples), doubles(noise[i]))
        for i in range(2)
    ]
    np.testing.assert_allclose(td3.bellman_target(subject, state, samples, noise), expected, atol=1e-5)


def test_a_fall_bootstraps_nothing_and_anything_else_does():
    subject = learner()
    state = random_state(subject)
    samples, noise = random_samples(subject, 6)
    y = np.asarray(td3.bellman_target(subject, state, samples, noise))
    fell = samples.terminal == 1
    np.testing.assert_array_equal(y[fell], samples.reward[fell])
    assert (np.abs(y - samples.reward)[~fell] > 1e-3).all()


@pytest.mark.parametrize("target_update", ["delayed", "every_step"])
def test_a_time_limit_contributes_no_critic_error(target_update):
    """Whatever a truncated sample's action, reward and next observation, training is the same to the last bit."""
    subject = learner(target_update=target_update, critic_learning_rate=1e-3)
    state = random_state(subject)
    samples, noise = random_samples(subject, 7)
    other, _ = random_samples(subject, 8)
    cut = samples.truncated == 1
    step = compiled(subject)

    def swapped(where: np.ndarray) -> Samples:
        return samples._replace(
            action=np.where(where[..., None], other.action, samples.action),
            reward=np.where(where, other.reward, samples.reward),
            next_observation=np.where(where[..., None], other.next_observation, samples.next_observation),
        )

    expected = jax.tree.leaves(step(state, samples, noise))
    for leaf, after in zip(expected, jax.tree.leaves(step(state, swapped(cut), noise)), strict=True):
        np.testing.assert_array_equal(leaf, after)
    assert not np.array_equal(expected[0], jax.tree.leaves(step(state, swapped(~cut), noise))[0])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"critic_steps": 21}, "multiple of actor_delay, got 21 and 2"),
        ({"critic_steps": 0}, "critic_steps must be a whole number of at least 1, got 0"),
        ({"batch_size": -1}, "batch_size must be a whole number of at least 1, got -1"),
        ({"replay_size": 0}, "replay_size must be a whole number of at least 1"),
        ({"discount": 1.1}, "discount must lie in"),
        ({"target_rate": 0.0}, "target_rate must be above 0"),
    ],
)
def test_impossible_settings_are_refused(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        TD3Config(**wrong)


def test_a_learner_can_start_from_a_given_actor():
    subject = learner()
    actor = jax.numpy.arange(subject.actor_layers.parameters, dtype=np.float32)
    state = subject.init(keys.root(0), actor)
    found = networks(state)
    np.testing.assert_array_equal(found["actor"], actor)
    np.testing.assert_array_equal(found["actor_target"], actor)
    np.testing.assert_array_equal(found["critic_targets"], found["critics"])
    assert not np.array_equal(*found["critics"].reshape(2, -1))
