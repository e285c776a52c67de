# SPDX-License-Identifier: Apache-2.0
"""Writes `onnx_lint/spec/products/onnxruntime.json`: the limits, operators and kernels of releases of ONNX Runtime.

    python -m tools.compile_targets PYTHON...

Each PYTHON is the interpreter of an environment with `onnx` and one release of `onnxruntime`. A release is asked for
its operators and its kernels for the processor. Its limits on versions are found by loading tiny models. With
`--ask` the module prints the answers of its own environment, and imports nothing else of this project.
"""

from __future__ import annotations

import datetime
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ONNX_DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview.training")
OWN_DOMAINS = ("com.microsoft", "com.microsoft.nchwc")
TARGETS = Path(__file__).parent.parent / "onnx_lint" / "spec" / "products" / "onnxruntime.json"
SOURCE = "the operators, the kernels for the processor and the limits of the package onnxruntime on PyPI"


def main(arguments: list[str]) -> int:
    """Write the data file from the answers of several environments. Returns the exit code."""
    if arguments == ["--ask"]:
        print(json.dumps(ask()))
        return 0
    answers = [json.loads(subprocess.check_output([python, __file__, "--ask"])) for python in arguments]
    answers.sort(key=lambda answer: [int(part) for part in answer["version"].split(".")])
    TARGETS.write_text(data_file(answers, datetime.date.today().isoformat()))
    return 0


def ask() -> dict[str, Any]:
    """Return the limits, operators and kernels of the installed onnxruntime."""
    import onnx
    import onnxruntime

    state = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")

    onnxruntime.set_default_logger_severity(4)
    standard = {_definition(schema) for schema in onnx.defs.get_all_schemas_with_history()}
    schemas = {_definition(schema) for schema in state.get_all_operator_schema()}
    kernels = [
        (kernel.domain, kernel.op_name, kernel.version_range[0], kernel.version_range[1], kernel.type_constraints)
        for kernel in state.get_all_opkernel_def()
        if kernel.provider == "CPUExecutionProvider" and kernel.domain in ONNX_DOMAINS + OWN_DOMAINS
    ]
    own = {definition[:2] for definition in schemas - standard}
    ir_version = max(number for number in range(3, onnx.IR_VERSION + 1) if _loads(number, {"": 7}))
    newest = {domain: onnx.defs.onnx_opset_version() for domain in ONNX_DOMAINS[:1]}
    newest |= {domain: _newest(domain) for domain in ONNX_DOMAINS[1:]}
    return {
        "version": onnxruntime.__version__,
        "ir_version": ir_version,
        "opsets": {
            domain: max(version for version in range(1, most + 1) if _loads(ir_version, {"": 7, domain: version}))
            for domain, most in newest.items()
        },
        "operators": sorted(pair for pair in own if pair[0] in ("", *OWN_DOMAINS)),
        "kernels": kernels,
    }


def _definition(schema: Any) -> tuple[str, str, int]:
    return schema.domain, schema.name, schema.since_version


def _newest(domain: str) -> int:
    import onnx

    schemas = onnx.defs.get_all_schemas_with_history()
    return max(int(schema.since_version) for schema in schemas if schema.domain == domain)


def _loads(ir_version: int, imports: dict[str, int]) -> bool:
    """Return whether a model with one Neg loads, whatever it imports."""
    import onnx
    import onnxruntime

    value = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Neg", ["x"], ["y"])], "g", value[:1], value[1:])
    opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in imports.items()]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    except Exception:
        return False
    return True


def data_file(answers: list[dict[str, Any]], date: str) -> str:
    """Return the content of the data file, with a line for each operator.

    An operator has the releases that know it, and its kernels: first and last version, types by parameter, releases.
    Releases are bits of a number, the oldest first. The types of a parameter are an index into `types`.
    """
    types: dict[str, int] = {}
    operators: dict[str, dict[str, Any]] = {}
    kernels: dict[str, dict[str, list[Any]]] = {}
    for bit, answer in enumerate(answers):
        for domain, name in answer["operators"]:
            entry = operators.setdefault(f"{domain}::{name}", {"releases": 0})
            entry["releases"] |= 1 << bit
        for domain, name, first, last, constraints in answer["kernels"]:
            allowed = {
                parameter: types.setdefault(" ".join(sorted(found)), len(types))
                for parameter, found in sorted(constraints.items())
            }
            row = [first, None if last == 2**31 - 1 else last, allowed]
            rows = kernels.setdefault(f"{domain}::{name}", {})
            rows.setdefault(json.dumps(row), [*row, 0])[3] |= 1 << bit
    for name, rows in kernels.items():
        operators.setdefault(name, {})["kernels"] = list(rows.values())
    head = {
        "source": SOURCE,
        "date": date,
        "releases": [{key: answer[key] for key in ("version", "ir_version", "opsets")} for answer in answers],
        "types": list(types),
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    listed = [f"  {json.dumps(name)}: {json.dumps(operators[name])}" for name in sorted(operators)]
    return "{\n" + ",\n".join(lines) + ',\n"operators": {\n' + ",\n".join(listed) + "\n}\n}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
