# SPDX-License-Identifier: Apache-2.0
"""Writes the data files of `onnx_lint.spec.operators` from the installed `onnx` and `onnxruntime`.

    python -m tools.generate_operators [DIRECTORY]

Without a directory the files of the package are rewritten. Without onnxruntime its file stays as it is.
The format is described in `onnx_lint.spec.operators.store`, which reads it. `tools.compile_targets` runs this file with
other interpreters, which have a release of onnxruntime each, for the signatures that differ from one to another.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

FORMAT = 1
RUNTIME_DOMAINS = ("com.microsoft", "com.microsoft.nchwc")
"""Domains taken from onnxruntime: `com.ms.internal.nhwc` exists only while a session transforms a graph."""

_PROBED_COUNT = 16
_SHARED = ("inputs", "outputs", "attributes", "types")


def main(arguments: list[str]) -> int:
    """Writes the files; the exit code."""
    if arguments == ["--signatures"]:
        print(json.dumps(runtime_signatures()))
        return 0
    directory = Path(arguments[0]) if arguments else Path(__file__).parent.parent / "onnx_lint" / "spec" / "operators"
    (directory / "onnx.jsonl").write_bytes(onnx_file())
    try:
        runtime = onnxruntime_file()
    except ImportError:
        print("onnxruntime is not installed: onnxruntime.jsonl left as it is", file=sys.stderr)
        return 0
    (directory / "onnxruntime.jsonl").write_bytes(runtime)
    return 0


def onnx_file() -> bytes:
    """The data file of every operator that the installed `onnx` knows."""
    import onnx.defs

    schemas = list(onnx.defs.get_all_schemas_with_history())
    header = {"format": FORMAT, "source": "onnx", "version": onnx.__version__}
    return _file(header, schemas, {_key(schema): _allowed_counts(schema) for schema in schemas})


def onnxruntime_file() -> bytes:
    """The data file of the contributed operators that the installed `onnxruntime` knows.

    It contains neither default values nor minimum arities nor function bodies; the minimum arity follows from
    the least number of inputs.

    Raises ImportError when onnxruntime is not installed.
    """
    import onnx.defs

    # The package brings no types, so it is imported by name.
    onnxruntime = importlib.import_module("onnxruntime")
    state = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    known = {schema.name for schema in onnx.defs.get_all_schemas_with_history() if schema.domain == ""}
    everything = list(state.get_all_operator_schema())
    header = {
        "format": FORMAT,
        "source": "onnxruntime",
        "version": onnxruntime.__version__,
        "has_default_values": False,
        "default_domain": sorted({s.name for s in everything if s.domain == "" and s.name not in known}),
    }
    return _file(header, [schema for schema in everything if schema.domain in RUNTIME_DOMAINS], {})


def runtime_signatures() -> list[tuple[str, str, dict[str, Any]]]:
    """Return domain, name and signature of each contributed operator of the installed `onnxruntime`.

    A type variable has its list of types, as the file has no line for it yet.
    """
    state = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    found = []
    for schema in state.get_all_operator_schema():
        if schema.domain in RUNTIME_DOMAINS:
            version = _version(schema, {})
            types = {each.type_param_str: sorted(each.allowed_type_strs) for each in schema.type_constraints}
            found.append((schema.domain, schema.name, {**version, "types": types}))
    return sorted(found, key=lambda row: row[:2])


def releases_file(releases: list[str], signatures: list[list[tuple[str, str, dict[str, Any]]]]) -> bytes:
    """Return the data file of the contributed operators whose signature differs between releases.

    In place of the operator set versions it has the indices of the releases in which the signature changed.
    """
    header = {"format": FORMAT, "source": "onnxruntime", "releases": releases, "has_default_values": False}
    lists: dict[str, list[str]] = {}
    versions: dict[tuple[str, str], list[tuple[int, dict[str, Any]]]] = defaultdict(list)
    for index, found in enumerate(signatures):
        for domain, name, version in found:
            types = {variable: _interned(kinds, lists) for variable, kinds in version["types"].items()}
            flags = [flag for flag in version.get("flags", ()) if flag != "function"]  # older releases do not say
            shown = {key: value for key, value in {**version, "types": types, "flags": flags}.items() if value}
            known = versions[domain, name]
            if not known or known[-1][1] != shown:
                known.append((index, shown))
    rows: list[list[Any]] = []
    for (domain, name), changes in sorted(versions.items()):
        if len(changes) > 1:
            since = [index for index, _ in changes]
            rows.append([domain, name, since, list(_with_references(since, [version for _, version in changes]))])
    used = {key for row in rows for version in row[3] for key in _type_keys(version)}
    return _lines(header, {key: kinds for key, kinds in lists.items() if key in used}, rows)


def _type_keys(version: dict[str, Any]) -> Iterable[str]:
    types = version.get("types", {})
    return types.values() if isinstance(types, dict) else ()


def _file(header: dict[str, Any], schemas: Iterable[Any], counts: dict[tuple[Any, ...], dict[str, Any]]) -> bytes:
    operators: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for schema in schemas:
        operators[schema.domain, schema.name].append(schema)
    lists: dict[str, list[str]] = {}
    rows = []
    for (domain, name), versions in sorted(operators.items()):
        versions.sort(key=lambda schema: schema.since_version)
        since = [schema.since_version for schema in versions]
        full = [{**_version(schema, lists), **counts.get(_key(schema), {})} for schema in versions]
        rows.append([domain, name, since, list(_with_references(since, full))])
    return _lines(header, lists, rows)


def _lines(header: dict[str, Any], lists: dict[str, list[str]], rows: list[list[Any]]) -> bytes:
    lines = [header, *([f"@{key}", lists[key]] for key in sorted(lists)), *rows]
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def _key(schema: Any) -> tuple[str, str, int]:
    return schema.domain, schema.name, schema.since_version


def _version(schema: Any, lists: dict[str, list[str]]) -> dict[str, Any]:
    version = {
        "inputs": [_parameter(p, i, schema.min_input) for i, p in enumerate(schema.inputs)],
        "outputs": [_parameter(p, i, schema.min_output) for i, p in enumerate(schema.outputs)],
        "attributes": {name: _attribute(schema.attributes[name]) for name in sorted(schema.attributes)},
        "types": {
            constraint.type_param_str: _interned(constraint.allowed_type_strs, lists)
            for constraint in schema.type_constraints
        },
        "flags": _flags(schema),
    }
    return {name: value for name, value in version.items() if value}


def _flags(schema: Any) -> list[str]:
    flags = {
        "deprecated": schema.deprecated,
        "experimental": schema.support_level.name == "EXPERIMENTAL",
        "function": getattr(schema, "has_function", False) or getattr(schema, "has_context_dependent_function", False),
    }
    return [name for name, is_set in flags.items() if is_set]


def _parameter(parameter: Any, index: int, least: int) -> str:
    """A parameter as "name:type", "?name:type" if optional, "*name:type" if variadic.

    A variadic one may end in a third part: "~" if it is not homogeneous, the minimum arity if it is not 1.
    """
    # onnxruntime spells the members of its own class differently.
    kind = parameter.type_str if hasattr(parameter, "type_str") else parameter.typeStr
    if ":" in parameter.name or parameter.name[0] in "?*":
        raise ValueError(f"the format has no place for a parameter named {parameter.name!r}")
    match parameter.option.name:
        case "Single":
            return f"{parameter.name}:{kind}"
        case "Optional":
            return f"?{parameter.name}:{kind}"
    homogeneous = parameter.is_homogeneous if hasattr(parameter, "is_homogeneous") else parameter.isHomogeneous
    arity = parameter.min_arity if hasattr(parameter, "min_arity") else max(0, least - index)
    suffix = ("" if homogeneous else "~") + ("" if arity == 1 else str(arity))
    return f"*{parameter.name}:{kind}:{suffix}".removesuffix(":")


def _attribute(attribute: Any) -> Any:
    kind = attribute.type.name.lower()
    if attribute.required:
        return f"{kind}!"
    default = getattr(attribute, "default_value", None)
    if default is None or not default.type:
        return kind
    return [kind, _default_value(default)]


def _default_value(attribute: Any) -> Any:
    import onnx.helper

    value = onnx.helper.get_attribute_value(attribute)
    return [_plain(item) for item in value] if isinstance(value, list) else _plain(value)


def _plain(value: int | float | bytes) -> int | float | str:
    import numpy as np

    if isinstance(value, bytes):
        return value.decode()
    return float(str(np.float32(value))) if isinstance(value, float) else value


def _interned(types: Iterable[str], lists: dict[str, list[str]]) -> str:
    ordered = sorted(types)
    key = hashlib.sha256(json.dumps(ordered).encode()).hexdigest()[:5]
    if lists.setdefault(key, ordered) != ordered:
        raise ValueError(f"two lists of types have the digest {key}")
    return key


def _with_references(since: list[int], versions: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The versions, with what an earlier version has too replaced by the number of that version."""
    for index, version in enumerate(versions):
        shorter = dict(version)
        for name in _SHARED:
            for earlier in range(index):
                if name in version and versions[earlier].get(name) == version[name]:
                    shorter[name] = since[earlier]
                    break
        yield shorter


def _allowed_counts(schema: Any) -> dict[str, list[int]]:
    """Return the counts of inputs and outputs that a schema allows, if they are fewer than its range.

    Python is not shown these sets, but the checker's message names the fault; so it is asked. It does not
    look at deprecated operators and preview domains, and no set is known for them.
    """
    found = {}
    for name, least, greatest in (
        ("input", schema.min_input, schema.max_input),
        ("output", schema.min_output, schema.max_output),
    ):
        counts = range(least, min(greatest, least + _PROBED_COUNT) + 1)
        refused = {count for count in counts if f"not in allowed {name} sizes" in _verdict(schema, name, count)}
        if refused:
            found[f"{name}_counts"] = [count for count in counts if count not in refused]
    return found


def _verdict(schema: Any, direction: str, count: int) -> str:
    """Return the checker's message about a node with a count of inputs or outputs; empty if it accepts the node."""
    import onnx.checker
    import onnx.helper

    inputs = count if direction == "input" else schema.min_input
    outputs = count if direction == "output" else schema.min_output
    names = [f"x{i}" for i in range(inputs)], [f"y{i}" for i in range(outputs)]
    node = onnx.helper.make_node(schema.name, *names, domain=schema.domain)
    context = onnx.checker.C.CheckerContext()
    context.ir_version = onnx.IR_VERSION
    context.opset_imports = {schema.domain: schema.since_version}
    try:
        onnx.checker.check_node(node, context)
    except onnx.checker.ValidationError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
