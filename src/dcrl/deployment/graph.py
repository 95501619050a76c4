"""Policies as ONNX graphs, built from standard operators. The only module that imports onnx and onnxruntime.

Weights, inputs and outputs are float32; the first axis of the observation is a batch of any size. The nearest elite
is found in double precision, so that a graph and `Repertoire.policy_for` choose the same one. A descriptor outside
its bounds is clipped.
"""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, checker, helper, numpy_helper

from dcrl.deployment.arrays import Arrays, named_layers
from dcrl.deployment.parity import Runner
from dcrl.networks.policies import Layers
from dcrl.repertoires.repertoire import Repertoire
from dcrl.types import Floats
from dcrl.version import __version__

OPSET = 17
IR_VERSION = 8  # of the same release as opset 17
LIMIT = 2**31 - 2**20  # bytes; a protobuf message ends at 2 GiB

Nodes = list[onnx.NodeProto]


def elite(found: Repertoire, cell: int) -> bytes:
    """One policy: `observation` (batch, O) to `action` (batch, A)."""
    return _model("elite", found, _perceptron(found.layers), named_layers(found.layers, found.genotype[cell]))


def repertoire(found: Repertoire) -> bytes:
    """All elites; the one nearest to the input `descriptor` (D) acts."""
    genotypes = found.genotype[found.occupied]
    if genotypes.nbytes > LIMIT:
        raise ValueError(
            f"an ONNX file holds at most 2 GiB, and these {len(genotypes):,} elites are "
            f"{genotypes.nbytes / 2**30:.1f} GiB; use --format npz"
        )
    stacked = named_layers(found.layers, genotypes)
    constants = {
        "low": np.asarray(found.space.low),
        "high": np.asarray(found.space.high),
        "descriptors": found.descriptor[found.occupied].astype(np.float64),
        "axis": np.array([1]),
        **{f"every_{name}": array for name, array in stacked.items()},
    }
    nodes = [
        helper.make_node("Cast", ["descriptor"], ["precise"], to=TensorProto.DOUBLE),
        *_clipped("precise"),
        helper.make_node("Sub", ["descriptors", "wanted"], ["offsets"]),
        helper.make_node("Mul", ["offsets", "offsets"], ["squares"]),
        helper.make_node("ReduceSum", ["squares", "axis"], ["squared_distances"], keepdims=0),
        helper.make_node("ArgMin", ["squared_distances"], ["nearest"], axis=0, keepdims=0),
        *(helper.make_node("Gather", [f"every_{name}", "nearest"], [name], axis=0) for name in stacked),
    ]
    return _model("repertoire", found, nodes + _perceptron(found.layers), constants)


def actor(found: Repertoire) -> bytes:
    """The descriptor-conditioned actor; its input `descriptor` is in the task's units.

    As in actor injection, the first layer on (s || d) is s W_1 + (d W_2 + b).
    """
    constants = named_layers(found.actor_layers, np.asarray(found.actor_parameters))
    kernel, size = constants["kernel_0"], found.layers.sizes[0]
    low, high = np.asarray(found.space.low, np.float32), np.asarray(found.space.high, np.float32)
    constants |= {
        "kernel_0": kernel[:size],
        "kernel_descriptor": kernel[size:],
        "bias_observation": constants.pop("bias_0"),
        "low": low,
        "high": high,
        "half_width": (high - low) / 2,
        "one": np.ones((), np.float32),
    }
    nodes = [
        *_clipped("descriptor"),
        helper.make_node("Sub", ["wanted", "low"], ["above_low"]),
        helper.make_node("Div", ["above_low", "half_width"], ["from_zero_to_two"]),
        helper.make_node("Sub", ["from_zero_to_two", "one"], ["condition"]),
        helper.make_node("MatMul", ["condition", "kernel_descriptor"], ["bias_descriptor"]),
        helper.make_node("Add", ["bias_descriptor", "bias_observation"], ["bias_0"]),
    ]
    return _model("actor", found, nodes + _perceptron(found.layers), constants)


def runner(model: bytes) -> Runner:
    """A model in onnxruntime, on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def run(observation: Floats, descriptor: Floats | None) -> Floats:
        inputs = {"observation": observation} | ({} if descriptor is None else {"descriptor": descriptor})
        action: Floats = session.run(["action"], inputs)[0]
        return action

    return run


def _perceptron(layers: Layers) -> Nodes:
    """The layers kernel_0, bias_0, kernel_1, ... from `observation` to `action`: ReLU, after the last one tanh."""
    nodes, inputs, last = [], "observation", len(layers.sizes) - 2
    for i in range(last + 1):
        function, output = ("Tanh", "action") if i == last else ("Relu", f"hidden_{i}")
        nodes.append(helper.make_node("MatMul", [inputs, f"kernel_{i}"], [f"product_{i}"]))
        nodes.append(helper.make_node("Add", [f"product_{i}", f"bias_{i}"], [f"sum_{i}"]))
        nodes.append(helper.make_node(function, [f"sum_{i}"], [output]))
        inputs = output
    return nodes


def _clipped(name: str) -> Nodes:
    """The input clipped to its bounds, as `wanted`. ONNX's Clip takes scalar bounds only."""
    return [
        helper.make_node("Max", [name, "low"], ["raised"]),
        helper.make_node("Min", ["raised", "high"], ["wanted"]),
    ]


def _model(name: str, found: Repertoire, nodes: Nodes, constants: Arrays) -> bytes:
    sizes = found.layers.sizes
    inputs = [helper.make_tensor_value_info("observation", TensorProto.FLOAT, ["batch", sizes[0]])]
    if name != "elite":
        inputs.append(helper.make_tensor_value_info("descriptor", TensorProto.FLOAT, [found.space.size]))
    output = helper.make_tensor_value_info("action", TensorProto.FLOAT, ["batch", sizes[-1]])
    tensors = [numpy_helper.from_array(np.asarray(array, order="C"), name) for name, array in constants.items()]
    model = helper.make_model(
        helper.make_graph(nodes, name, inputs, [output], tensors),
        producer_name="dcrl",
        producer_version=__version__,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString()
    return content
