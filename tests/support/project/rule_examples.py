# SPDX-License-Identifier: Apache-2.0
"""The examples in the documentation of rules, made into files; docs/writing_rules.md says how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from google.protobuf import text_format

from onnx_lint.rule import Rule
from onnx_lint.schema import Proto, message
from onnx_lint.spec.releases import RELEASES, normalized_domain
from support.project.fixture_files import Fixture, read_fixture

EXAMPLE: Final = "Example"
CORRECTION: Final = "Corrected:"
"""The line of the example before the corrected blocks."""

NEWEST: Final = RELEASES[-1]
"""The release of the model in an excerpt that does not name one."""

_AROUND: Final = "com.example.around"
"""The domain of operators that an excerpt only uses, with unknown types and shapes."""

_BLOCK = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEXADECIMAL = re.compile(r'(#[^\n]*\n|\s)*([0-9a-f]{2}\s|")')
_BESIDE = re.compile(r"# beside the model: (\S+)(?:, (\d+) zero bytes| -> (\S+))")
_TOKEN = re.compile(r'\s+|#[^\n]*|"(?:[^"\\]|\\.)*"|[{}\[\]]|[^\s{}\[\]"#]+')
_FIELD = re.compile(r"([a-z_]+):?")


def blocks(rule: Rule, half: str) -> list[str]:
    """The blocks of one half of the example in the rule's documentation, in their order."""
    section = re.search(rf"^### {EXAMPLE}$(.*?)(?=^### |\Z)", rule.documentation, re.MULTILINE | re.DOTALL)
    faulty, _, corrected = ("" if section is None else section[1]).partition(f"\n{CORRECTION}\n")
    return _BLOCK.findall(faulty if half == EXAMPLE else corrected)


def written(block: str, folder: Path) -> Fixture:
    """Write the file in a block of an example, and those beside it, into an empty folder, and return the file."""
    lines = block.splitlines()
    (folder / "data").mkdir(parents=True)
    for line in lines:
        _write_beside(line, folder / "data")
    headers = [line for line in lines if line.startswith("# ") and _BESIDE.fullmatch(line) is None]
    body = "\n".join(line for line in lines if not line.startswith("# "))
    is_whole = any(line.startswith(("# proto: ", "# name: ")) for line in headers)
    if not is_whole and not _HEXADECIMAL.match(body):
        body = completed(body).SerializePartialToString().hex(" ")
    path = folder / f"example.{'hex' if _HEXADECIMAL.match(body) else 'textproto'}"
    path.write_text("\n".join(["# An example.", *headers, "", body, ""]), encoding="utf-8")
    return read_fixture(path)


def _write_beside(line: str, folder: Path) -> None:
    """Write the file or link that a line `# beside the model: ...` describes."""
    match = _BESIDE.fullmatch(line)
    if match is None:
        return
    path = folder / match[1]
    path.parent.mkdir(parents=True, exist_ok=True)
    if match[3] is not None:
        path.symlink_to(match[3])
    else:
        path.write_bytes(bytes(int(match[2])))


def completed(excerpt: str) -> Proto:
    """Return a model with the fields that `excerpt` shows, also those of the main graph, and the fields it omits."""
    model, states = message("ModelProto")(), set()
    for name, field in _fields(excerpt):
        states.add(name)
        text_format.Merge(field, model if name in model.DESCRIPTOR.fields_by_name else model.graph)
    if "ir_version" not in states:
        model.ir_version = NEWEST.ir_version
    if "graph" not in states:
        model.graph.name = model.graph.name or "graph"
    for number, graph in enumerate(_graphs(model)):
        graph.name = graph.name or f"graph_{number}"
    if states.isdisjoint({"graph", "input"}):
        _define(model, sorted(_free(model.graph)))
    domains = {normalized_domain(part.domain) for part in (*_nodes(model), *model.functions)}
    for part in (model, *model.functions):
        if not part.opset_import:
            for domain in sorted({"", *domains}):
                part.opset_import.add(domain=domain, version=NEWEST.opset_version(domain) or 1)
    return model


def _fields(excerpt: str) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each top-level field."""
    depth, starts = 0, []
    for token in _TOKEN.finditer(excerpt):
        field = _FIELD.fullmatch(token[0])
        if depth == 0 and field is not None:
            starts.append((field[1], token.start()))
        depth += (token[0] in "{[") - (token[0] in "]}")
    ends = [start for _, start in starts[1:]] + [len(excerpt)]
    for (name, start), end in zip(starts, ends, strict=True):
        yield name, excerpt[start:end]


def _graphs(part: Proto) -> Iterator[Proto]:
    """Every graph in an attribute of a node of a model, function or graph, at any depth."""
    for node in _nodes(part):
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield attribute.g


def _nodes(part: Proto) -> Iterator[Proto]:
    """Every node of a model, function or graph, those of nested graphs included."""
    if part.DESCRIPTOR.name == "ModelProto":
        for holder in (part.graph, *part.functions):
            yield from _nodes(holder)
        return
    for node in part.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _nodes(attribute.g)


def _free(graph: Proto) -> set[str]:
    """The names that a graph uses and does not define."""
    defined = {value.name for value in (*graph.input, *graph.initializer)}
    defined |= {sparse.values.name for sparse in graph.sparse_initializer}
    used = {value.name for value in graph.output}
    for node in graph.node:
        defined |= set(node.output)
        used |= set(node.input)
        for attribute in node.attribute:
            used |= _free(attribute.g)
    return used - defined - {""}


def _define(model: Proto, names: list[str]) -> None:
    """Add a node of an unknown operator that defines the names, before all other nodes."""
    if not names:
        return
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.add(op_type="Source", domain=_AROUND, output=names)
    model.graph.node.extend(nodes)
    if model.opset_import:
        model.opset_import.add(domain=_AROUND, version=1)
