# SPDX-License-Identifier: Apache-2.0
"""Reads operator signatures from the package's data files, one operator at a time.

A file is read and split into lines when its first operator is needed. A line is parsed when its operator is needed, and
a version is built when that version is.

The format is one JSON array per line:

- the first line is the header: the source package, its version, and the facts that it does not have;
- `["@KEY",[TYPE,...]]` is a list of types; KEY is a digest of it, so that a new list does not renumber others;
- `["DOMAIN","OP_TYPE",[SINCE,...],[VERSION,...]]` is an operator, the versions in the order of SINCE.

A version is an object with `inputs`, `outputs` (see `tools.generate_operators`), `attributes` (name: "type", "type!" if
required, or ["type", default]), `types` (type variable: KEY), `input_counts`, `output_counts` (if only some of the
range are allowed) and `flags`. Empty values are left out. A number instead of a value refers to the same value in the
version since that number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from onnx_lint.common import package_data
from onnx_lint.common.cached import cached_property
from onnx_lint.spec.operators.schema import AttributeSchema, OperatorSchema, Parameter, ParameterOption, count_range

_MAX_NAME: Final = 1000
"""The longest name to look up. No operator has a longer one, and encoding a hundred megabytes takes time."""

_OPTIONS: Final = {"?": ParameterOption.OPTIONAL, "*": ParameterOption.VARIADIC}


class DataFile:
    """One data file of the package, for the domains it holds."""

    def __init__(self, file_name: str, domains: tuple[str, ...]) -> None:
        self.file_name = file_name
        self.domains = domains
        self._type_lists: dict[str, frozenset[str]] = {}
        self._rows: dict[tuple[str, str], list[Any]] = {}
        self._schemas: dict[tuple[str, str, int], OperatorSchema] = {}

    @cached_property
    def _lines(self) -> dict[bytes, bytes]:
        """Each line by the text before its first list; the header by b""."""
        first, *rest = package_data.read(__package__, self.file_name).splitlines()
        lines = {line[: line.find(b",[")]: line for line in rest}
        lines[b""] = first
        return lines

    @cached_property
    def header(self) -> Mapping[str, Any]:
        """The facts about the source of the file, with at least `source` and `version`."""
        return MappingProxyType(package_data.from_json(self._lines[b""]))

    def versions(self, domain: str, op_type: str) -> tuple[int, ...]:
        """Return the operator set versions that added or changed an operator, ascending; empty if unknown."""
        row = self._row(domain, op_type)
        return tuple(row[2]) if row else ()

    def schema(self, domain: str, op_type: str, since_version: int) -> OperatorSchema | None:
        """Return the signature of an operator as of exactly the version that introduced it.

        It is one object for all operator sets that have this version of the operator. So models that import different
        sets share what was found out about nodes by their signature.
        """
        key = (domain, op_type, since_version)
        found = self._schemas.get(key)
        if found is None:
            row = self._row(domain, op_type)
            if not row or since_version not in row[2]:
                return None
            found = self._schemas[key] = self._build(row, row[2].index(since_version))
        return found

    def first_versions(self, domain: str) -> Iterator[tuple[str, int]]:
        """Yield each operator of a domain with its first version, in the order of the names."""
        prefix = f'["{domain}",'.encode()
        for key, line in self._lines.items():
            if key.startswith(prefix):
                start = len(key) + 2
                first = line[start : line.find(b"]", start)].partition(b",")[0]
                yield package_data.from_json(key[len(prefix) :]), int(first)

    def _row(self, domain: str, op_type: str) -> list[Any] | None:
        if len(domain) + len(op_type) > _MAX_NAME:
            return None
        key = (domain, op_type)
        if key not in self._rows:
            line = self._lines.get(f'["{domain}","{op_type}"'.encode(errors="backslashreplace"))
            if not line:
                return None  # do not cache misses: a file may name any number of operators
            self._rows[key] = package_data.from_json(line)
        return self._rows[key]

    def _build(self, row: list[Any], index: int) -> OperatorSchema:
        domain, name, since, versions = row

        def part(key: str, empty: Any) -> Any:
            value = versions[index].get(key, empty)
            # A number refers to the version since that number.
            return versions[since.index(value)][key] if isinstance(value, int) else value

        constraints = {variable: self._type_list(key) for variable, key in part("types", {}).items()}
        inputs = tuple(_parameter(text, constraints) for text in part("inputs", []))
        outputs = tuple(_parameter(text, constraints) for text in part("outputs", []))
        min_input, max_input = count_range(inputs)
        min_output, max_output = count_range(outputs)
        flags = versions[index].get("flags", ())
        return OperatorSchema(
            domain=domain,
            name=name,
            since_version=since[index],
            inputs=inputs,
            outputs=outputs,
            attributes=MappingProxyType({key: _attribute(key, value) for key, value in part("attributes", {}).items()}),
            type_constraints=MappingProxyType(constraints),
            min_input=min_input,
            max_input=max_input,
            min_output=min_output,
            max_output=max_output,
            input_counts=_counts(versions[index].get("input_counts")),
            output_counts=_counts(versions[index].get("output_counts")),
            deprecated="deprecated" in flags,
            experimental="experimental" in flags,
            has_function_body="function" in flags,
            has_default_values=self.header.get("has_default_values", True),
        )

    def _type_list(self, key: str) -> frozenset[str]:
        types = self._type_lists.get(key)
        if types is None:
            types = self._type_lists[key] = frozenset(package_data.from_json(self._lines[f'["@{key}"'.encode()])[1])
        return types


def _parameter(text: str, constraints: Mapping[str, frozenset[str]]) -> Parameter:
    option = _OPTIONS.get(text[0], ParameterOption.SINGLE)
    name, kind, *rest = text.lstrip("?*").split(":")
    suffix = rest[0] if rest else ""
    arity = suffix.removeprefix("~")
    types = constraints.get(kind)
    return Parameter(
        name=name,
        type=kind,
        types=frozenset((kind,)) if types is None else types,
        variable=None if types is None else kind,
        option=option,
        homogeneous=not suffix.startswith("~"),
        min_arity=int(arity) if arity else 1,
    )


def _attribute(name: str, value: str | list[Any]) -> AttributeSchema:
    if isinstance(value, list):
        kind, default = value
        return AttributeSchema(name, kind.upper(), False, tuple(default) if isinstance(default, list) else default)
    return AttributeSchema(name, value.removesuffix("!").upper(), value.endswith("!"))


def _counts(counts: list[int] | None) -> frozenset[int] | None:
    return None if counts is None else frozenset(counts)


ONNX: Final = DataFile(
    "onnx.jsonl", ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "ai.onnx.training")
)
"""All operators of ONNX's own domains."""

ONNXRUNTIME: Final = DataFile("onnxruntime.jsonl", ("com.microsoft", "com.microsoft.nchwc"))
"""The operators that ONNX Runtime contributes."""
