# SPDX-License-Identifier: Apache-2.0
"""Writes `onnx_lint/spec/products/PRODUCT.json`: what releases of a product can load.

    python -m tools.compile_targets onnxruntime PYTHON...
    python -m tools.compile_targets openvino PYTHON...

Each PYTHON is the interpreter of an environment with `onnx` and one release of the product. ONNX Runtime is asked for
its operators and its kernels for the processor; its limits on versions are found by loading tiny models. If it has no
kernel for an operator with a function, it runs the function, whose nodes may lack kernels. So it loads a model for each
version and the types of each of these operators. OpenVINO loads a model with one node for each definition of an
operator without subgraphs, and one for each element type, and refuses what it cannot convert. With `--ask` the module
prints the answers of its own environment, and imports nothing else of this project.
"""

from __future__ import annotations

import datetime
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ONNX_DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview.training")
OWN_DOMAINS = ("com.microsoft", "com.microsoft.nchwc")
PRODUCTS = Path(__file__).parent.parent / "onnx_lint" / "spec" / "products"
ONNXRUNTIME = "the operators, the kernels for the processor and the limits of the package onnxruntime on PyPI"
OPENVINO = "the operators and element types that the package openvino on PyPI says it cannot convert"


def main(arguments: list[str]) -> int:
    """Write the data file from the answers of several environments. Returns the exit code."""
    if arguments[0] == "--ask":
        print(json.dumps({"onnxruntime": ask_onnxruntime, "openvino": ask_openvino}[arguments[1]]()))
        return 0
    product, *pythons = arguments
    answers = [json.loads(subprocess.check_output([python, __file__, "--ask", product])) for python in pythons]
    if product == "onnxruntime":
        from tools.runtime_functions import runtime_functions

        for answer, python in zip(answers, pythons, strict=True):
            answer["functions"] = [*runtime_functions(python, answer["opsets"])]
    answers.sort(key=lambda answer: [int(part) for part in answer["version"].split(".")])
    make = {"onnxruntime": onnxruntime_file, "openvino": openvino_file}[product]
    (PRODUCTS / f"{product}.json").write_text(make(answers, datetime.date.today().isoformat()))
    return 0


def ask_onnxruntime() -> dict[str, Any]:
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


def ask_openvino() -> dict[str, Any]:
    """Return the definitions of operators that the installed OpenVINO cannot convert."""
    import onnx

    openvino = importlib.import_module("openvino")
    core = openvino.Core()
    refused = []
    for schema in onnx.defs.get_all_schemas_with_history():
        has_subgraph = any(each.type == onnx.defs.OpSchema.AttrType.GRAPH for each in schema.attributes.values())
        if schema.deprecated or has_subgraph:  # OpenVINO crashes for a dummy as the body of a Loop
            continue
        try:
            core.read_model(_with_one_node(schema).SerializeToString())
        except Exception as error:
            # The arguments are dummies, so other errors say nothing about the operator.
            found = re.search(
                "(?:No conversion rule found for|not support the following ONNX) operations: (.*)", str(error)
            )
            names = {re.sub("-[0-9]+$", "", name) for name in found[1].split(", ")} if found else set()
            if names & {schema.name, f"{schema.domain}.{schema.name}"}:
                refused.append(_definition(schema))
    return {
        "version": openvino.__version__.partition("-")[0],
        "refused": refused,
        "element_types": [name for name, number in _element_types() if _converts(core, number)],
    }


def _element_types() -> list[tuple[str, int]]:
    """Return the types of tensors, each with its number in TensorProto."""
    import onnx

    numbers = sorted(number for number in onnx.TensorProto.DataType.values() if number)
    return [(f"tensor({onnx.TensorProto.DataType.Name(number).lower()})", number) for number in numbers]


def _converts(core: Any, number: int) -> bool:
    """Return whether OpenVINO loads a model with one Identity for an element type."""
    from onnx import helper

    value = [helper.make_tensor_value_info(name, number, [1]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", value[:1], value[1:])
    try:
        core.read_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    except Exception:
        return False
    return True


def _with_one_node(schema: Any) -> Any:
    """Return a model with one node of this definition, which need not be valid otherwise."""
    import onnx
    from onnx import helper

    def value(name: str) -> Any:
        return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 1, 4, 4])

    inputs = [f"x{index}" for index in range(max(schema.min_input, min(schema.max_input, 1)))]
    outputs = [f"y{index}" for index in range(max(schema.min_output, 1))]
    kinds = onnx.defs.OpSchema.AttrType
    tensor = helper.make_tensor("t", onnx.TensorProto.FLOAT, [1], [1.0])
    dummies: dict[Any, Any] = {
        kinds.INT: 1,
        kinds.INTS: [1, 1],
        kinds.FLOAT: 1.0,
        kinds.FLOATS: [1.0],
        kinds.STRING: "x",
        kinds.STRINGS: ["x"],
        kinds.TENSOR: tensor,
    }
    given = {name: dummies.get(each.type) for name, each in schema.attributes.items() if each.required}
    node = helper.make_node(schema.name, inputs, outputs, domain=schema.domain, **given)
    graph = helper.make_graph([node], "g", [value(name) for name in inputs], [value(name) for name in outputs])
    imports = {"": 17} | {schema.domain: schema.since_version}
    opsets = [helper.make_opsetid(domain, version) for domain, version in imports.items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


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
