"""Every built-in task keeps the contract of a task, whichever simulator plays it."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from dcrl.networks.policies import policy_layers
from dcrl.tasks import hexapod, registry
from dcrl.tasks.task import Task
from dcrl.types import Physics
from support.episodes import HORIZON

# observation, actions, parameters of a policy with two hidden layers of 128, episode, descriptor, bounds
TABLE = {
    "ant_omni": (30, 8, 21_512, 250, 2, (-30.0, 30.0)),
    "anttrap_omni": (30, 8, 21_512, 250, 2, (-30.0, 30.0)),
    "humanoid_omni": (247, 17, 50_449, 1000, 2, (-10.0, 10.0)),
    "walker2d_uni": (18, 6, 19_718, 1000, 2, (0.0, 1.0)),
    "halfcheetah_uni": (19, 6, 19_846, 1000, 2, (0.0, 1.0)),
    "ant_uni": (28, 8, 21_256, 1000, 4, (0.0, 1.0)),
    "humanoid_uni": (245, 17, 50_193, 1000, 2, (0.0, 1.0)),
    "hopper_uni": (12, 3, 18_563, 1000, 1, (0.0, 1.0)),
    "hexapod_uni": (50, 18, 25_362, 250, 6, (0.0, 1.0)),
    "point_omni": (5, 2, 17_538, 50, 2, (-3.0, 3.0)),
}
# the lowest and highest healthy torso, and the greatest healthy pitch
HEALTHY = {
    "ant": (0.2, 1.0, None),
    "anttrap": (0.2, 1.0, None),
    "humanoid": (1.0, 2.0, None),
    "walker2d": (0.8, 2.0, 1.0),
    "hopper": (0.7, np.inf, 0.2),
    "hexapod": (0.05, 0.25, None),
}
# the geoms whose contacts with the floor the descriptor counts, by their names in it
FEET = {
    "walker2d_uni": {"right foot": "foot_geom", "left foot": "foot_left_geom"},
    "halfcheetah_uni": {"front foot": "ffoot", "back foot": "bfoot"},
    "humanoid_uni": {"right foot": "right_foot", "left foot": "left_foot"},
    "hopper_uni": {"foot": "foot_geom"},
    "ant_uni": {
        "front left": "left_ankle_geom",
        "back left": "right_ankle_geom",
        "back right": "third_ankle_geom",
        "front right": "fourth_ankle_geom",
    },
    "hexapod_uni": {leg.replace("_", " "): f"{leg}_tibia" for leg in hexapod.LEGS},
}
# joints that are called otherwise in the model: by their side, as the feet of the descriptor
JOINTS = {
    "walker2d_uni": {
        **{"thigh": "right_thigh", "leg": "right_leg", "foot": "right_foot"},
        **{"thigh_left": "left_thigh", "leg_left": "left_leg", "foot_left": "left_foot"},
    },
    "halfcheetah_uni": {
        **{"bthigh": "back_thigh", "bshin": "back_shin", "bfoot": "back_foot"},
        **{"fthigh": "front_thigh", "fshin": "front_shin", "ffoot": "front_foot"},
    },
}
CASES = [
    pytest.param(
        (simulator, name),
        id=f"{simulator} {name}",
        marks=pytest.mark.slow if simulator == "mjx" else (),  # compiles for seconds to minutes on a processor
    )
    for simulator in ("mujoco", "mjx")
    for name in TABLE
]


@pytest.fixture(params=CASES)
def played(request, episodes):
    """A task with a short horizon, and 64 episodes of it."""
    return episodes(*request.param)


@pytest.fixture(params=TABLE)
def task(request):
    return registry.BUILT_IN[request.param]


def column(task: object, label: str) -> int:
    return task.observations.index(label)


def test_every_built_in_task_is_in_the_table():
    assert set(registry.BUILT_IN) == set(TABLE)


def test_sizes_are_those_of_the_table(task):
    observation, actions, parameters, horizon, dimensions, (low, high) = TABLE[task.name]
    assert (task.observation_size, task.action_size, task.horizon) == (observation, actions, horizon)
    assert policy_layers(task.observation_size, task.action_size).parameters == parameters
    assert task.descriptor.size == dimensions
    assert task.descriptor.low == (low,) * dimensions
    assert task.descriptor.high == (high,) * dimensions
    assert task.descriptor.over == ("last" if task.name.endswith("_omni") else "mean")


def test_labels_are_unique_and_the_last_is_the_time(task):
    assert len(set(task.observations)) == task.observation_size
    assert len(set(task.actions)) == task.action_size
    assert task.observations[-1] == "share of the episode left"


def test_actions_are_named_after_the_joints_they_drive(task):
    model = task.model
    driven = [label(task, model.joint(model.actuator(i).trnid[0]).name) for i in range(model.nu)]
    assert tuple(driven) == task.actions
    assert (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT).all()


@pytest.mark.parametrize("name", FEET)
def test_each_foot_of_the_descriptor_has_its_own_sensor(name):
    task, feet = registry.BUILT_IN[name], FEET[name]
    assert task.descriptor.names == tuple(f"contact rate, {foot}" for foot in feet)
    model = task.model
    assert model.nsensor == model.nsensordata == len(feet)
    assert [model.geom(i).name for i in model.sensor_objid] == list(feet.values())
    assert [model.geom(i).name for i in model.sensor_refid] == ["floor"] * len(feet)
    assert (model.sensor_type == mujoco.mjtSensor.mjSENS_CONTACT).all()


def test_joint_angles_and_velocities_stand_where_their_labels_say(task):
    """Move one joint at a time: exactly the observations that carry its name follow."""
    model, data = task.model, mujoco.MjData(task.model)
    data.qpos[:] = model.qpos0 + 0.01
    mujoco.mj_forward(model, data)
    checked = 0
    for joint in range(model.njnt):
        name = label(task, model.joint(joint).name)
        for kind, field, address, unit in (
            ("angle (rad)", "qpos", model.jnt_qposadr[joint], 1),
            ("velocity (rad/s)", "qvel", model.jnt_dofadr[joint], 1),
            ("velocity / (10 rad/s)", "qvel", model.jnt_dofadr[joint], 10),
        ):
            if f"{name} {kind}" not in task.observations:
                continue
            at = column(task, f"{name} {kind}")
            fields = {each: getattr(data, each).copy() for each in task.fields}
            fields[field][address] = 0.123
            assert observed(task, fields)[at] == pytest.approx(0.123 / unit)
            checked += 1
    hinges = (model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE).sum()
    planar = task.name.startswith(("walker2d", "halfcheetah", "hopper"))  # their pitch is a hinge too
    assert checked == 2 * (hinges - planar)


def label(task: Task, joint: str) -> str:
    """What a task calls a joint of its model."""
    own = joint.removesuffix("_joint")
    return JOINTS.get(task.name, {}).get(own, own)


def observed(task: object, fields: dict[str, np.ndarray]) -> np.ndarray:
    return task.observe(Physics(np, task.integration.period, np.asarray(1.0), fields))


def test_functions_take_states_with_any_leading_axes(task):
    data = mujoco.MjData(task.model)
    mujoco.mj_forward(task.model, data)
    one = Physics(np, 0.1, np.asarray(0.5), {field: getattr(data, field) for field in task.fields})
    many = Physics(
        np,
        0.1,
        np.full((3, 2), 0.5),
        {field: np.broadcast_to(getattr(data, field), (3, 2, *getattr(data, field).shape)) for field in task.fields},
    )

    def reward(physics: Physics) -> np.ndarray:
        return task.reward(physics, np.full((*physics.remaining.shape, task.action_size), 0.1), physics)

    for function, shape in (
        (task.observe, (task.observation_size,)),
        (task.terminated, ()),
        (task.step_descriptor, (task.descriptor.size,)),
        (reward, ()),
    ):
        single, stacked = np.asarray(function(one)), np.asarray(function(many))
        assert single.shape == shape
        assert stacked.shape == (3, 2, *shape)
        np.testing.assert_array_equal(stacked, np.broadcast_to(single, stacked.shape))


def test_an_episode_is_finite_and_rewards_are_never_negative(played):
    _, evaluation = played
    simulated, within = evaluation.transitions.simulated, observations_made(evaluation)
    assert evaluation.valid.all()
    assert np.isfinite(evaluation.transitions.observation[within]).all()
    assert np.isfinite(evaluation.transitions.state_descriptor[within]).all()
    assert (np.abs(evaluation.transitions.action[simulated]) <= 1).all()
    assert (evaluation.transitions.reward[simulated] >= 0).all()
    assert evaluation.transitions.reward[simulated].max() > 0
    for array in (evaluation.transitions.observation, evaluation.transitions.action, evaluation.transitions.reward):
        assert array.dtype == np.float32


def observations_made(evaluation: object) -> np.ndarray:
    """(B, T + 1), true for the observations that were made: one more than the simulated steps."""
    return np.arange(evaluation.transitions.observation.shape[1]) <= evaluation.steps[:, None]


def test_observations_are_stored_once(played):
    task, evaluation = played
    count = len(evaluation.fitness)
    assert evaluation.transitions.observation.shape == (count, HORIZON + 1, task.observation_size)
    assert evaluation.transitions.state_descriptor.shape == (count, HORIZON + 1, task.descriptor.size)
    assert evaluation.transitions.action.shape == (count, HORIZON, task.action_size)
    assert evaluation.transitions.reward.shape == (count, HORIZON)
    arrays = {name for name, value in vars(evaluation.transitions).items() if np.ndim(value) > 1}
    assert arrays == {"observation", "action", "reward", "state_descriptor"}


def test_the_time_feature_is_the_share_of_the_episode_left(played):
    _, evaluation = played
    expected = np.broadcast_to((HORIZON - np.arange(HORIZON + 1)) / HORIZON, (len(evaluation.steps), HORIZON + 1))
    within = observations_made(evaluation)
    assert (evaluation.transitions.observation[:, 0, -1] == 1).all()
    np.testing.assert_allclose(evaluation.transitions.observation[..., -1][within], expected[within], rtol=1e-6)


def test_an_episode_ends_by_a_fall_or_by_the_time_limit_and_not_otherwise(played):
    _, evaluation = played
    assert ((evaluation.steps >= 1) & (evaluation.steps <= HORIZON)).all()
    assert (evaluation.transitions.terminated | (evaluation.steps == HORIZON)).all()
    np.testing.assert_array_equal(evaluation.transitions.steps, evaluation.steps)
    np.testing.assert_array_equal(evaluation.transitions.simulated.sum(axis=1), evaluation.steps)
    assert (evaluation.transitions.simulated[:, :-1] >= evaluation.transitions.simulated[:, 1:]).all()


def test_only_the_last_state_of_a_fall_is_unhealthy(played):
    task, evaluation = played
    robot = task.name.split("_")[0]
    if robot not in HEALTHY:
        assert not evaluation.transitions.terminated.any()
        return
    lowest, highest, pitch = HEALTHY[robot]
    seen = evaluation.transitions.observation
    z = seen[..., column(task, "torso z (m)")]
    fallen = (z < lowest) | (z > highest)
    if pitch is not None:
        fallen |= np.abs(seen[..., column(task, "torso pitch (rad)")]) > pitch
    if robot == "hexapod":
        x, y = (seen[..., column(task, f"torso quaternion {axis}")] for axis in "xy")
        fallen |= 1 - 2 * (x**2 + y**2) < hexapod.UPRIGHT
    times = np.arange(HORIZON + 1)
    assert not fallen[(times < evaluation.steps[:, None]) & (times > 0)].any()
    np.testing.assert_array_equal(fallen[np.arange(len(z)), evaluation.steps], evaluation.transitions.terminated)
    if robot in ("walker2d", "humanoid", "hopper"):  # who falls within the time played
        assert evaluation.transitions.terminated.sum() >= 16


def test_fitness_is_the_sum_of_the_simulated_rewards(played):
    _, evaluation = played
    rewards = np.where(evaluation.transitions.simulated, evaluation.transitions.reward, 0).astype(np.float64)
    np.testing.assert_allclose(evaluation.fitness, rewards.sum(axis=1), rtol=1e-5, atol=1e-5)


def test_the_descriptor_is_that_of_the_simulated_steps(played):
    task, evaluation = played
    states = evaluation.transitions.state_descriptor
    for i, steps in enumerate(evaluation.steps):
        after = states[i, 1 : steps + 1].astype(np.float64)  # the states that steps led to; the start is not one
        expected = after.mean(axis=0) if task.descriptor.over == "mean" else after[-1]
        expected = np.clip(expected, task.descriptor.low, task.descriptor.high)
        np.testing.assert_allclose(evaluation.descriptor[i], expected, rtol=1e-5, atol=1e-6)


def test_descriptors_lie_within_their_bounds(played):
    task, evaluation = played
    low, high = np.array(task.descriptor.low), np.array(task.descriptor.high)
    assert ((evaluation.descriptor >= low) & (evaluation.descriptor <= high)).all()
    if task.name.endswith("_uni"):
        seen = evaluation.transitions.state_descriptor[observations_made(evaluation)]
        assert set(np.unique(seen)) == {0.0, 1.0}  # each contact is there or not, and both happen


def test_policies_behave_differently(played):
    _, evaluation = played
    assert len(np.unique(evaluation.descriptor, axis=0)) > 8
    assert len(np.unique(evaluation.fitness)) > 8
