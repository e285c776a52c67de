# SPDX-License-Identifier: Apache-2.0
"""Writes `onnx_lint/spec/products/PRODUCT.json`: what releases of a product can load. For ONNX Runtime it also writes
`onnx_lint/spec/operators/onnxruntime_releases.jsonl`: the signatures of its operators that differ between releases.

    python -m tools.compile_targets onnxruntime PYTHON...
    python -m tools.compile_targets openvino PYTHON...
    python -m tools.compile_targets signatures PYTHON...    only the signatures of ONNX Runtime

Each PYTHON is the interpreter of an environment with one release of the product. ONNX Runtime is asked for its
operators and its kernels for the processor; its limits on versions are found by loading tiny models. If it has no
kernel for an operator with a function, it runs the function, whose nodes may lack kernels. So it loads a model for each
version and the types of each of these operators. OpenVINO loads a model with one node for each definition of an
operator without subgraphs, and one for each element type, and refuses what it cannot convert.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from onnx_lint import schema
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.spec.operators import BUILT_IN
from onnx_lint.spec.products import version_number
from onnx_lint.spec.releases import NEWEST_IR_VERSION, NEWEST_OPSET
from tools import generate_operators
from tools.compare_target import reasons
from tools.runtime_functions import runtime_functions
from tools.single_nodes import definitions, single_node

ONNX_DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview.training")
OWN_DOMAINS = ("com.microsoft", "com.microsoft.nchwc")
PRODUCTS = Path(__file__).parent.parent / "onnx_lint" / "spec" / "products"
OPERATORS = PRODUCTS.parent / "operators"
ONNXRUNTIME = "the operators, the kernels for the processor and the limits of the package onnxruntime on PyPI"
OPENVINO = "the operators and element types that the package openvino on PyPI says it cannot convert"


def main(arguments: list[str]) -> int:
    """Write the data file from the answers of several environments. Returns the exit code."""
    product, *pythons = arguments
    if product != "openvino":
        (OPERATORS / "onnxruntime_releases.jsonl").write_bytes(signatures_file(pythons))
    if product == "signatures":
        return 0
    ask, make = {"onnxruntime": (ask_onnxruntime, onnxruntime_file), "openvino": (ask_openvino, openvino_file)}[product]
    answers = sorted(map(ask, pythons), key=lambda answer: version_number(answer["version"]))
    (PRODUCTS / f"{product}.json").write_text(make(answers, datetime.date.today().isoformat()))
    return 0


_ASK_VERSION = "import onnxruntime; print(onnxruntime.__version__)"


def signatures_file(pythons: list[str]) -> bytes:
    """Return the content of the file with the signatures of ONNX Runtime's operators that releases changed."""
    asked = {}
    for python in pythons:
        version = subprocess.check_output([python, "-c", _ASK_VERSION], text=True).strip()
        asked[version] = json.loads(
            subprocess.check_output([python, generate_operators.__file__, "--signatures"], text=True)
        )
    releases = sorted(asked, key=version_number)
    return generate_operators.releases_file(releases, [asked[version] for version in releases])


_ASK_ONNXRUNTIME = """
import json, onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as state
onnxruntime.set_default_logger_severity(4)
print(json.dumps({
    "version": onnxruntime.__version__,
    "schemas": [(each.domain, each.name, each.since_version) for each in state.get_all_operator_schema()],
    "kernels": [(each.domain, each.op_name, *each.version_range, each.type_constraints)
                for each in state.get_all_opkernel_def() if each.provider == "CPUExecutionProvider"],
}))
"""


def ask_onnxruntime(python: str) -> dict[str, Any]:
    """Return the limits, operators, kernels and refused functions of a release."""
    answer = json.loads(subprocess.check_output([python, "-c", _ASK_ONNXRUNTIME]))
    own = {(domain, name) for domain, name, version in answer["schemas"] if not _is_onnx(domain, name, version)}
    ir_version = max(_loaded(python, {number: (number, {"": 7}) for number in range(3, NEWEST_IR_VERSION + 1)}))
    opsets = {
        domain: max(_loaded(python, {n: (ir_version, {"": 7, domain: n}) for n in range(1, NEWEST_OPSET[domain] + 1)}))
        for domain in ONNX_DOMAINS
    }
    return {
        "version": answer["version"],
        "ir_version": ir_version,
        "opsets": opsets,
        "operators": sorted(pair for pair in own if pair[0] in ("", *OWN_DOMAINS)),
        "kernels": [kernel for kernel in answer["kernels"] if kernel[0] in ONNX_DOMAINS + OWN_DOMAINS],
        "functions": [*runtime_functions(python, opsets)],
    }


def _is_onnx(domain: str, name: str, version: int) -> bool:
    return domain not in OWN_DOMAINS and version in BUILT_IN.versions(domain, name)


def _loaded(python: str, imports: dict[int, tuple[int, dict[str, int]]]) -> list[int]:
    """Return the numbers of the models with one Neg that load. `imports`: by number, the IR version and the imports."""
    models = []
    for ir_version, opsets in imports.values():
        model = schema.message("ModelProto").FromString(_of_type("Neg", "tensor(float)"))
        model.ir_version = ir_version
        del model.opset_import[:]
        for domain, version in opsets.items():
            model.opset_import.add(domain=domain, version=version)
        models.append(model.SerializeToString())
    refused = reasons(python, "onnxruntime", models)
    return [number for number, reason in zip(imports, refused, strict=True) if reason is None]


def _of_type(name: str, kind: str) -> bytes:
    """Return a model with one node of an operator whose operands have a type."""
    operator = BUILT_IN.find("", name, 17)
    assert operator is not None
    return single_node(operator, 17, {operator.inputs[0].type: kind}, rank=1)


def onnxruntime_file(answers: list[dict[str, Any]], date: str) -> str:
    """Return the content of the data file, with a line for each operator.

    An operator has the releases that know it, and its kernels: first and last version, types by parameter, releases. If
    it has a function, it has in the same form what the releases refuse: they run neither a kernel nor the function.
    Releases are bits of a number, the oldest first. The types of a parameter are an index into `types`.
    """
    types: dict[str, int] = {}
    operators: dict[str, dict[str, Any]] = {}
    kernels: dict[str, dict[str, list[Any]]] = {}
    refused: dict[str, dict[str, list[Any]]] = {}
    for bit, answer in enumerate(answers):
        for domain, name in answer["operators"]:
            entry = operators.setdefault(f"{domain}::{name}", {"releases": 0})
            entry["releases"] |= 1 << bit
        for of_operator, listed in ((kernels, answer["kernels"]), (refused, answer["functions"])):
            for domain, name, first, last, constraints in listed:
                allowed = {
                    parameter: types.setdefault(" ".join(sorted(found)), len(types))
                    for parameter, found in sorted(constraints.items())
                }
                row = [first, None if last == 2**31 - 1 else last, allowed]
                rows = of_operator.setdefault(f"{domain}::{name}", {})
                rows.setdefault(json.dumps(row), [*row, 0])[3] |= 1 << bit
    for key, of_operator in (("kernels", kernels), ("refused_types", refused)):
        for name, rows in of_operator.items():
            operators.setdefault(name, {})[key] = [*rows.values()]
    head = {
        "source": ONNXRUNTIME,
        "date": date,
        "releases": [{key: answer[key] for key in ("version", "ir_version", "opsets")} for answer in answers],
        "types": list(types),
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    listed = [f"  {json.dumps(name)}: {json.dumps(operators[name])}" for name in sorted(operators)]
    return "{\n" + ",\n".join(lines) + ',\n"operators": {\n' + ",\n".join(listed) + "\n}\n}\n"


def ask_openvino(python: str) -> dict[str, Any]:
    """Return the definitions of operators that a release cannot convert, and the element types that it can."""
    version = "from importlib.metadata import version; print(version('openvino'))"
    operators = [each for each in definitions() if each.domain in ONNX_DOMAINS]
    answers = reasons(python, "openvino", [single_node(each, each.since_version, {}, rank=4) for each in operators])
    refused = []
    for operator, reason in zip(operators, answers, strict=True):
        # The arguments are dummies, so other errors say nothing about the operator.
        found = re.search(
            "(?:No conversion rule found for|not support the following ONNX) operations: (.*)", reason or ""
        )
        names = {re.sub("-[0-9]+$", "", name) for name in found[1].split(", ")} if found else set()
        if names & {operator.name, f"{operator.domain}.{operator.name}"}:
            refused.append((operator.domain, operator.name, operator.since_version))
    types = [f"tensor({element.name})" for element in ELEMENT_TYPES.values()]
    answers = reasons(python, "openvino", [_of_type("Identity", kind) for kind in types])
    return {
        "version": subprocess.check_output([python, "-c", version], text=True).strip(),
        "refused": refused,
        "element_types": [kind for kind, reason in zip(types, answers, strict=True) if reason is None],
    }


def openvino_file(answers: list[dict[str, Any]], date: str) -> str:
    """Return the content of the data file, with a line for each operator that a release refuses.

    Each row has the version of a definition, and the releases that refuse it, as bits of a number, the oldest first.
    """
    refused: dict[str, dict[int, int]] = {}
    for bit, answer in enumerate(answers):
        for domain, name, version in answer["refused"]:
            rows = refused.setdefault(f"{domain}::{name}", {})
            rows[version] = rows.get(version, 0) | 1 << bit
    head = {
        "source": OPENVINO,
        "date": date,
        "domains": ONNX_DOMAINS,
        "releases": [
            {
                "version": answer["version"],
                "ir_version": None,
                "opsets": {},
                "element_types": answer["element_types"],
            }
            for answer in answers
        ],
        "types": [],
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    rows_of = {name: json.dumps(sorted(rows.items())) for name, rows in refused.items()}
    listed = [f'  {json.dumps(name)}: {{"refused": {rows_of[name]}}}' for name in sorted(rows_of)]
    return "{\n" + ",\n".join(lines) + ',\n"operators": {\n' + ",\n".join(listed) + "\n}\n}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
