# SPDX-License-Identifier: Apache-2.0
"""Measures each row of the ledger `docs/performance.md`: the code of onnx-lint, and the alternative that it replaces.

`python benchmarks/ledger.py [--write] [ROW...]`. The two pieces of code run in turn, each in
a process of its own. The least processor time of each counts, without the time of their common part. The exit code is 1
if the alternative is not slower, or if onnx-lint's code saves less than half of the share that the ledger states. With
--write the figures are put into the ledger.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import large_models
import models

ROOT: Final = Path(__file__).parent.parent
LEDGER: Final = ROOT / "docs" / "performance.md"
ROUNDS: Final = 7
ROW: Final = re.compile(r"^\| `([a-z-]+)` \| (.*) \| ([\d,.]+) ms \| ([\d,.]+) ms \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two pieces of code with the same result: that of onnx-lint, and the alternative."""

    common: str
    quick: str
    slow: str


_SMALL: Final = "import sys; sys.argv[1:] = [SMALL]; from onnx_lint.__main__ import main\n"
_MANY: Final = _SMALL.replace("SMALL", "MANY")
_LINT: Final = """
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
settings, data = Settings(), open(SMALL, "rb").read()
def lint(times):
    for _ in range(times):
        lint_source(BytesSource(data), "m.onnx", settings)
"""
_LOAD: Final = """
from onnx_lint.loader import load
from onnx_lint.input.source import BytesSource
data = open(LARGE, "rb").read()
"""
_FOLLOWED: Final = """
from onnx_lint.loader import load
from onnx_lint.input.source import BytesSource
model = load(BytesSource(open(FLAT, "rb").read()), "m.onnx")
model.operators, model.imports, [graph.positions for graph in model.graphs]
"""
_ENSEMBLE: Final = """
from onnx_lint import schema
from onnx_lint.ir.operators.ensemble_votes import REGRESSOR, is_evidently_right
count = 1_001
lists = {
    "nodes_treeids": [0] * count,
    "nodes_nodeids": range(count),
    "nodes_truenodeids": [*range(1, count, 2), *[0] * 501],
    "nodes_falsenodeids": [*range(2, count, 2), *[0] * 501],
}
Attribute = schema.message("AttributeProto")
given = {name: Attribute(name=name, ints=values) for name, values in lists.items()}
given["nodes_modes"] = Attribute(name="nodes_modes", strings=[b"BRANCH_LEQ"] * 500 + [b"LEAF"] * 501)
"""

PAIRS: Final[Mapping[str, Pair]] = {
    "no-click": Pair("import onnx_lint.cli.run\n", "", "import onnx_lint.cli.application"),
    "records": Pair(
        "from onnx_lint.common.record import Record\nfrom dataclasses import dataclass\n"
        "fields = '\\n a: int\\n b: str\\n c: tuple[int, ...] = ()\\n'\n",
        "exec(''.join(f'class C{n}(Record):{fields}' for n in range(60)))",
        "exec(''.join(f'@dataclass(frozen=True, slots=True)\\nclass C{n}:{fields}' for n in range(60)))",
    ),
    "descriptor-pool": Pair(
        "from onnx_lint.schema.pool import factory\n",
        "factory()",
        "from google.protobuf import descriptor_pool, message_factory",
    ),
    "descriptor-set": Pair(
        "from onnx_lint import schema\nfrom onnx_lint.common import package_data\n"
        "from onnx_lint.schema.pool import factory\nfactory()\n",
        "schema.pool()",
        "from google.protobuf.descriptor_pb2 import FileDescriptorSet\n"
        "FileDescriptorSet.FromString(package_data.read('onnx_lint.schema', 'onnx.binpb'))\nschema.pool()",
    ),
    "json-scanner": Pair(
        "import re\nfrom onnx_lint.common import package_data\n"
        "data = package_data.read('onnx_lint.rules', 'index.json')\n",
        "package_data.from_json(data)",
        "import json\njson.loads(data)",
    ),
    "entry-points": Pair(
        "from onnx_lint.engine import plugins\n",
        "plugins._may_have_packages()",
        "from importlib.metadata import entry_points\nentry_points(group=plugins.ENTRY_POINT_GROUP)",
    ),
    "rules-asked": Pair(
        _LINT,
        "lint(1)",
        "from onnx_lint.engine.registry import registry\n[entry.rule for entry in registry().values()]\nlint(1)",
    ),
    "shape-families": Pair(
        _LINT + "from importlib import import_module\nfrom onnx_lint.inference.shapes import rules\n",
        "lint(1)",
        "modules = {module for name, module in rules.families().items() if '::' not in name}\n"
        "[import_module(f'{rules.__name__}.{module}') for module in modules]\nlint(1)",
    ),
    "values-asked": Pair(
        _LINT + "from onnx_lint.loader import load\nsettings = Settings(select=('name',))\n",
        "lint(1)\nload(BytesSource(data), 'm.onnx')",
        "lint(1)\nload(BytesSource(data), 'm.onnx').value_flow",
    ),
    "collector-at-end": Pair(_SMALL.replace("SMALL", "LARGE"), "main()", "import gc\ngc.freeze = gc.enable\nmain()"),
    "collector-for-a-file": Pair(
        "from onnx_lint import lint\n", "lint(LARGE)", "import gc\ngc.disable = lambda: None\nlint(LARGE)"
    ),
    "model-released": Pair(
        _MANY, "main()", "from onnx_lint.model import Model\nModel.release = lambda self: None\nmain()"
    ),
    "default-selection": Pair(
        "from onnx_lint.engine.registry import registry\nfrom onnx_lint.engine.selection import Selection\n"
        "from onnx_lint.engine.settings import Settings\nsettings, rules = Settings(), registry()\n",
        "Selection(settings, rules)",
        "for entry in rules.values():\n    entry.by_default = None\nSelection(settings, rules)",
    ),
    "selection-kept": Pair(
        _LINT,
        "lint(300)",
        "from onnx_lint.engine import selection\nfor _ in range(300):\n    selection._kept.clear()\n    lint(1)",
    ),
    "canonical": Pair(
        _LOAD,
        "load(BytesSource(data), 'm.onnx')",
        "load(BytesSource(data + b'\\xf8\\x07\\x01'), 'm.onnx')",
    ),
    "columns-of-nodes": Pair(
        _LOAD + "from onnx_lint import schema\n",
        "outline = schema.nodeless('ModelProto').FromString(data)\n"
        "from onnx_lint.ir.columns.nodes import node_table\nnode_table(outline.graph.node)",
        "proto = schema.message('ModelProto').FromString(data)\n"
        "kept = [(tuple(node.input), tuple(node.output), node.name, node.op_type, list(node.attribute))"
        " for node in proto.graph.node]",
    ),
    "columns-of-initializers": Pair(
        "from onnx_lint import schema\nfrom onnx_lint.ir.columns import initializers\n"
        "written = list(schema.outline('ModelProto').FromString(open(WEIGHTS, 'rb').read()).graph.initializer)\n",
        "initializers.initializers_of(written)",
        "found = initializers.Initializers([], [], [], [], set())\nkinds = {}\n"
        "for piece in written:\n    initializers._add_parsed(piece, found, kinds)",
    ),
    "shared-forms": Pair(
        "from onnx_lint.ir.columns import nodes\n"
        "written = list(nodes.schema.nodeless('ModelProto').FromString(open(FLAT, 'rb').read()).graph.node)\n",
        "nodes.node_table(written)",
        "nodes.MAX_SHARED_BYTES = 128\nnodes.node_table(written)",
    ),
    "forms-of-floats": Pair(
        "from onnx_lint.ir.columns import nodes\n"
        "written = list(nodes.schema.nodeless('ModelProto').FromString(open(FLOATS, 'rb').read()).graph.node)\n",
        "nodes.node_table(written)",
        "nodes._without_floats = lambda core: b''\nnodes.node_table(written)",
    ),
    "metadata-at-once": Pair(
        "from onnx_lint.ir.columns import nodes\n"
        "written = list(nodes.schema.nodeless('ModelProto').FromString(open(ANNOTATED, 'rb').read()).graph.node)\n",
        "nodes.node_table(written)",
        "nodes._MAX_UNREAD_BYTES = 0\nnodes.node_table(written)",
    ),
    "plain-outcomes": Pair(
        _FOLLOWED,
        "model.value_flow",
        "from onnx_lint.inference.flow.outcome_memo import OutcomeMemo\noutcome = OutcomeMemo.outcome\n"
        "def forgetful(self, inputs):\n    found = outcome(self, inputs)\n    self.plain.clear()\n    return found\n"
        "OutcomeMemo.outcome = forgetful\nmodel.value_flow",
    ),
    "repeated-inputs": Pair(
        _FOLLOWED,
        "model.value_flow",
        "from onnx_lint.inference.flow.traversal import Flow\nFlow._repeat = lambda *given: None\nmodel.value_flow",
    ),
    "memos-without-floats": Pair(
        _FOLLOWED.replace("FLAT", "CONSTANTS"),
        "model.value_flow",
        "from onnx_lint.inference.flow.frames import Frames\nFrames._key_of_alike = lambda *given: None\n"
        "model.value_flow",
    ),
    "known-branches": Pair(
        _FOLLOWED.replace("FLAT", "NESTED"),
        "model.value_flow",
        "from onnx_lint.inference.flow.outcome_memo import OutcomeMemo\nkeep = OutcomeMemo.keep\n"
        "OutcomeMemo.keep = lambda self, key, made: made if self.operator.by_subgraphs else keep(self, key, made)\n"
        "model.value_flow",
    ),
    "floats-read": Pair(
        _LOAD
        + "model = load(BytesSource(data), 'm.onnx')\nmodel.operators, [graph.positions for graph in model.graphs]\n",
        "model.value_flow",
        "from onnx_lint.inference.flow import declared_facts\ndeclared_facts._FEW_FLOATS = 1 << 30\nmodel.value_flow",
    ),
    "single-scales": Pair(
        _FOLLOWED.replace("FLAT", "SCALES")
        + "from onnx_lint.rules.hygiene import impossible_number\nmodel.value_flow, model.tensors\n"
        + "check = impossible_number.impossible_number.check\n",
        "assert not [*check(model)]",
        "impossible_number._is_single_scale = lambda *given: False\nassert not [*check(model)]",
    ),
    "small-ensembles": Pair(
        _ENSEMBLE,
        "assert is_evidently_right(given, REGRESSOR)",
        "from onnx_lint.ir.operators import tree_ensembles\n"
        "assert not [*tree_ensembles.voting_faults(given, REGRESSOR)]",
    ),
    "small-nodes": Pair(
        _LOAD + "from onnx_lint.loader.binary import strip_payloads\n",
        "strip_payloads.read_skeleton(BytesSource(data), 1 << 29, 5_000_000)",
        "strip_payloads.LONG_RUN = 1 << 60\nstrip_payloads.read_skeleton(BytesSource(data), 1 << 29, 5_000_000)",
    ),
}
"""The code of each row, by its name."""


def rows() -> dict[str, tuple[float, float]]:
    """Return the rows of the ledger: the milliseconds of onnx-lint's code and of the alternative."""
    text = LEDGER.read_text(encoding="utf-8")
    return {name: (_number(quick), _number(slow)) for name, _, quick, slow in ROW.findall(text)}


def _number(text: str) -> float:
    return float(text.replace(",", ""))


class Bench:
    """Runs code in processes. The code may use the names of models, such as SMALL, and of MANY, a folder of 600."""

    def __init__(self, folder: Path) -> None:
        self._head = ""
        made = {
            "SMALL": models.mixture(10),
            "LARGE": models.mixture(30_000),
            "FLAT": models.flat(30_000),
            "NESTED": models.nested(60, 8),
            "CONSTANTS": large_models.own_constants(2_000),
            "ANNOTATED": models.annotated(10_000),
            "FLOATS": large_models.own_attributes(10_000),
            "WEIGHTS": large_models.initializers(30_000),
            "SCALES": large_models.quantized(3_000),
        }
        for name, model in made.items():
            path = folder / f"{name.lower()}.onnx"
            models.save(model, path)
            self._head += f"{name} = {str(path)!r}\n"
        many = folder / "many"
        many.mkdir()
        for seed in range(600):
            models.save(models.mixture(10 + seed % 40, seed), many / f"{seed}.onnx")
        self._head += f"MANY = {str(many)!r}\n"
        self._environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONPATH": str(ROOT)}
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def milliseconds(self, code: str) -> float:
        """Return the processor time of one process."""
        command = [sys.executable, "-c", self._head + code]
        process = subprocess.Popen(command, env=self._environment, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"this code ended with {process.returncode}:\n{code}")
        return (usage.ru_utime + usage.ru_stime) * 1000

    def measure(self, pair: Pair) -> tuple[float, float]:
        """Return the least time of each code, without the time of their common part."""
        codes = (pair.common, pair.common + pair.quick, pair.common + pair.slow)
        times: list[list[float]] = [[] for _ in codes]
        for number in range(ROUNDS + 1):
            for code, found in zip(codes, times, strict=True):
                found.append(self.milliseconds(code))
            if number == 0:  # the first round also compiles the modules
                times = [[] for _ in codes]
        floor, quick, slow = map(min, times)
        return max(quick - floor, 0.1), max(slow - floor, 0.1)


def main() -> int:
    """Measure the rows; return 1 if one does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the figures into the ledger")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="only these rows")
    arguments = parser.parse_args()
    known = rows()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        for name in arguments.rows or PAIRS:
            quick, slow = bench.measure(PAIRS[name])
            then = known.get(name, (quick, slow))
            holds = quick < slow and 1 - quick / slow >= (1 - then[0] / then[1]) / 2
            failed += not holds
            figures = f"{quick:,.1f} ms in place of {slow:,.1f} ms; the ledger: {then[0]:,.1f} and {then[1]:,.1f}"
            print(f"{name:<24}{'' if holds else 'DOES NOT HOLD: '}{figures}", flush=True)
            if arguments.write:
                _write(name, quick, slow)
    return 1 if failed and not arguments.write else 0


def _write(name: str, quick: float, slow: float) -> None:
    text = LEDGER.read_text(encoding="utf-8")
    line = rf"^(\| `{name}` \| .* \|) [\d,.]+ ms \| [\d,.]+ ms \|$"
    LEDGER.write_text(
        re.sub(line, rf"\1 {quick:,.1f} ms | {slow:,.1f} ms |", text, flags=re.MULTILINE), encoding="utf-8"
    )


if __name__ == "__main__":
    sys.exit(main())
