# SPDX-License-Identifier: Apache-2.0
"""A folder of many models, generated and real ones, and a plugin that troubles a few of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import onnx
from onnx import TensorProto, helper

OPERATORS: Final = ("Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Softsign")
PRODUCERS: Final = ("exporter one", "exporter two", "exporter three")

SMALL_BYTES: Final = 20_000
"""Real models above this size are left out: there are to be many."""

TROUBLES: Final = {
    "hangs": "time.sleep(3600)",
    "eats": "hoard = [bytearray(b'x' * 20_000_000) for _ in range(100_000)]",
    "dies": "os.kill(os.getpid(), signal.SIGKILL)",
    "ends": "os._exit(7)",
    "raises": "raise RuntimeError('boom')",
    "slays": "os.kill(os.getppid(), signal.SIGKILL)",
}
"""The act of the plugin's rule on a model whose producer has this name."""

_RULE: Final = '''
import os, signal, time
from onnx_lint.rule import rule

@rule(clause="MOD-10", since="1.0")
def trouble(model):
    """A rule that harms its process, for models that ask for it."""
    TROUBLES
    return
    yield
'''


def write_fleet(folder: Path, count: int, *, seed: int = 1, troubles: Sequence[str] = ()) -> list[Path]:
    """Write so many models below the folder, and return their paths."""
    rng = random.Random(seed)
    real = _real_models()
    made = []
    for index in range(count):
        path = folder / f"group{index % 7}" / f"model{index:05}.onnx"
        path.parent.mkdir(parents=True, exist_ok=True)
        model = _copy(rng.choice(real)) if index % 3 == 0 else _generated(rng)
        model.producer_name = rng.choice(PRODUCERS)
        path.write_bytes(model.SerializeToString())
        made.append(path)
    for trouble in troubles:
        model = _generated(rng)
        model.producer_name = trouble
        path = folder / f"{trouble}.onnx"
        path.write_bytes(model.SerializeToString())
        made.append(path)
    return made


def write_plugin(site: Path) -> None:
    """Install the plugin into a folder that is to be on the path of modules."""
    rules = site / "onnx_lint_trouble" / "rules"
    (rules / "model").mkdir(parents=True)
    for package in (rules.parent, rules, rules / "model"):
        (package / "__init__.py").touch()
    lines = [f"if model.proto.producer_name == {name!r}: {what}" for name, what in TROUBLES.items()]
    (rules / "model" / "trouble.py").write_text(_RULE.replace("TROUBLES", "\n    ".join(lines)))
    described = site / "onnx_lint_trouble-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: onnx-lint-trouble\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text("[onnx_lint.rules]\ntrouble = onnx_lint_trouble.rules\n")


def _real_models() -> list[onnx.ModelProto]:
    """The small models that the wheel of onnx brings."""
    import onnx.backend.test

    data = Path(onnx.backend.test.__file__).parent / "data"
    paths = sorted(path for path in data.rglob("*.onnx") if path.stat().st_size <= SMALL_BYTES)
    assert len(paths) > 50
    return [onnx.load_model(path, load_external_data=False) for path in paths]


def _copy(model: onnx.ModelProto) -> onnx.ModelProto:
    other = onnx.ModelProto()
    other.CopyFrom(model)
    return other


def _generated(rng: random.Random) -> onnx.ModelProto:
    """A chain of operators, in which one in four reads a value that nothing defines."""
    length = rng.randrange(1, 40)
    nodes = [
        helper.make_node(rng.choice(OPERATORS), [f"v{index}"], [f"v{index + 1}"], name=f"n{index}")
        for index in range(length)
    ]
    if rng.random() < 0.25:
        nodes[rng.randrange(length)].input[0] = f"missing{rng.randrange(1000)}"
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in ("v0", f"v{length}")]
    graph = helper.make_graph(nodes, f"graph{rng.randrange(10**9)}", ends[:1], ends[1:])
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
