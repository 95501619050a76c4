"""How fast a paper-size generation runs: seconds per stage, and arithmetic against the machine's own limit.

FLOPs are the paper's arithmetic: two per weight and sample in each forward pass, twice that for a full
backward pass, the same again for a pass back to a network's inputs alone. Arithmetic that an implementation
avoids still counts; biases, activations and optimisers do not.
"""

from __future__ import annotations

import dataclasses
import platform
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np

from dcrl.algorithms.algorithm import Algorithm
from dcrl.algorithms.compose import TRAIN, Composition
from dcrl.learners.td3 import TD3
from dcrl.networks.policies import Layers
from dcrl.variation.policy_gradient import PolicyGradient

PRODUCT_SIZE = 3072


@dataclass(frozen=True, kw_only=True)
class GenerationSpeed:
    """Medians over the measured generations."""

    task: str
    algorithm: str
    generations: tuple[int, ...]  # those measured
    stage_seconds: dict[str, float]  # with the stages one after another
    sequential_seconds: float  # a whole generation, with the stages one after another
    generation_seconds: float  # a whole generation as it runs: the first offspring are played during training
    mean_steps: float  # simulated control steps per policy
    stage_gflops: dict[str, float]  # of the stages whose arithmetic is counted
    matmul_gflops: float  # the machine's large float32 matrix product, on all cores, measured between generations
    peak_gib: float


def measure_generations(
    task: str,
    name: str,
    algorithm: Algorithm,
    warm_up: int,
    count: int,
    seed: int,
    progress: Callable[[str], None],
    product_size: int = PRODUCT_SIZE,
) -> GenerationSpeed:
    """Run `warm_up` generations, then measure `count` each way, the matrix product before and after each pair.

    Each way: with the stages one after another, and as a generation runs.
    """
    progress(f"{task}: the initial policies, then warm-up, generations 1 to {warm_up}")
    state, _ = algorithm.start(seed)
    for _ in range(warm_up):
        state, _ = algorithm.advance(state, seed)
    sequential = dataclasses.replace(algorithm, overlap=False) if isinstance(algorithm, Composition) else algorithm
    seconds: list[dict[str, float]] = []
    whole: list[float] = []
    steps_before, products = state.environment_steps, [product_gflops(product_size)]
    for i in range(count):
        marks: list[tuple[str, float]] = []
        state, _ = sequential.advance(state, seed, partial(_mark, marks))
        _mark(marks, "")
        state, _ = algorithm.advance(state, seed)
        whole.append(time.perf_counter() - marks[-1][1])
        seconds.append({name: end - begin for (name, begin), (_, end) in pairwise(marks)})
        products.append(product_gflops(product_size))
        progress(f"{task}: generation {i + 1} of {count} took {whole[-1]:.1f} s")
    stages = {name: statistics.median(each.get(name, 0.0) for each in seconds) for name in seconds[-1]}
    return GenerationSpeed(
        task=task,
        algorithm=name,
        generations=tuple(range(warm_up + 1, warm_up + 2 * count + 1)),
        stage_seconds=stages,
        sequential_seconds=statistics.median(sum(each.values()) for each in seconds),
        generation_seconds=statistics.median(whole),
        mean_steps=(state.environment_steps - steps_before) / (2 * count * algorithm.generation_evaluations),
        stage_gflops={name: work / stages[name] / 1e9 for name, work in flops(algorithm).items()},
        matmul_gflops=statistics.median(products),
        peak_gib=peak_gib(),
    )


def _mark(marks: list[tuple[str, float]], stage: str) -> None:
    marks.append((stage, time.perf_counter()))


def flops(algorithm: Algorithm) -> dict[str, float]:
    """FLOPs of one generation by stage: actor-critic training, and each policy-gradient operator."""
    found = {TRAIN: sum(_training_flops(learner) for learner in algorithm.learners)} if algorithm.learners else {}
    operators = algorithm.operators if isinstance(algorithm, Composition) else ()
    policy_gradients = (operator for operator in operators if isinstance(operator, PolicyGradient))
    return found | {operator.name: _policy_gradient_flops(operator) for operator in policy_gradients}


def _training_flops(learner: TD3) -> float:
    config = learner.config
    critic, actor = (2 * config.batch_size * _weights(n) for n in (learner.critic_layers, learner.actor_layers))
    target, regression, actor_update = actor + 2 * critic, 2 * 3 * critic, 3 * actor + 2 * critic
    return config.critic_steps * (target + regression + actor_update / config.actor_delay)


def _policy_gradient_flops(operator: PolicyGradient) -> float:
    batch = operator.learner.config.batch_size
    policy, critic = (2 * batch * _weights(n) for n in (operator.layers, operator.learner.critic_layers))
    return operator.count * operator.config.policy_steps * (3 * policy + 2 * critic)


def _weights(layers: Layers) -> int:
    return sum(fan_in * fan_out for fan_in, fan_out in pairwise(layers.sizes))


def product_gflops(size: int, repeats: int = 3) -> float:
    """The faster of NumPy's BLAS on all threads and one JAX product per device, all devices at once, by medians."""
    rows = np.random.default_rng(0).standard_normal((size, size), np.float32)
    devices = jax.local_devices()
    placed = [jax.device_put(jnp.asarray(rows), device) for device in devices]
    multiply = jax.jit(jnp.matmul)
    jax.block_until_ready([multiply(each, each) for each in placed])
    work = 2.0 * size**3
    blas, xla = [], []
    for _ in range(repeats):
        begin = time.perf_counter()
        rows @ rows
        middle = time.perf_counter()
        jax.block_until_ready([multiply(each, each) for each in placed])
        end = time.perf_counter()
        blas.append(work / (middle - begin))
        xla.append(len(devices) * work / (end - middle))
    return max(statistics.median(blas), statistics.median(xla)) / 1e9


def peak_gib() -> float:
    """The peak memory of this process."""
    unit = 1 if platform.system() == "Darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30
