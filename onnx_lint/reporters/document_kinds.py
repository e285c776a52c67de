# SPDX-License-Identifier: Apache-2.0
"""The pages of `explain` about kinds of document, as Markdown and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from onnx_lint.engine.registry import Registered, registry
from onnx_lint.ir.documents.kinds import KINDS, DocumentKind
from onnx_lint.reporters.wording import counted

_BY_SUFFIX: Final = (
    "By the content of a file called .pb. Of any other file only with --proto {message}, or by the comment "
    "`# proto-message: onnx.{message}` in text form."
)
_BY_OPTION: Final = "By --proto {message}, or by the comment `# proto-message: onnx.{message}` in text form."

_ABOUT: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "ModelProto": (
            "A graph, or functions for other models to use, with the metadata that they need.",
            "A file is read as a model unless something says otherwise.",
        ),
        "OperatorSetProto": (
            "The operators of one version of a domain, some with a function body.",
            "By the magic word ONNXOPSET among the first fields, in each form. Without it, by the name .onnxopset of a "
            "binary file that can be nothing else, or by --proto OperatorSetProto.",
        ),
        "FunctionProto": ("A function by itself, as in the list of functions of a model.", _BY_OPTION),
        "GraphProto": ("A graph by itself, without the operator set imports of its model.", _BY_OPTION),
        "NodeProto": ("A node by itself, without the graph that defines its inputs.", _BY_OPTION),
        "AttributeProto": ("An attribute by itself.", _BY_OPTION),
        "TensorProto": ("A tensor, such as the input or expected output of a test case.", _BY_SUFFIX),
        "SparseTensorProto": ("A sparse tensor: its values and their indices.", _BY_SUFFIX),
        "ValueInfoProto": ("The name and type of a value.", _BY_OPTION),
        "TypeProto": ("A type by itself.", _BY_OPTION),
        "SequenceProto": ("A value: tensors, sequences, maps or optionals, all of one type.", _BY_SUFFIX),
        "MapProto": ("A value: keys, and for each of them a value.", _BY_SUFFIX),
        "OptionalProto": (
            "A value that may be missing.",
            _BY_SUFFIX + " An optional with a value has the same bytes as a sequence of that one value, and is read as "
            "the sequence.",
        ),
    }
)
"""A description of each kind, and how a file is recognized as one."""


def kinds_of(entry: Registered) -> tuple[str, ...]:
    """Return the messages that the rule can check."""
    return tuple(kind.message for kind in KINDS.values() if entry.needs in kind.holds)


def kind_record(kind: DocumentKind) -> dict[str, Any]:
    """Return the page of a kind of document as plain data, for JSON."""
    about, recognized = _ABOUT[kind.message]
    return {
        "kind": kind.message,
        "root": kind.noun,
        "summary": about,
        "told": recognized.format(message=kind.message),
        "rules": [entry.id for entry in _rules(kind)],
    }


def kind_markdown(kind: DocumentKind) -> str:
    """Return the page of a kind of document: what it is, how it is recognized, and the rules that check it."""
    about, recognized = _ABOUT[kind.message]
    chapters: dict[str, list[str]] = {}
    for entry in _rules(kind):
        chapters.setdefault(entry.chapter, []).append(f"`{entry.id}`")
    rules = "\n".join(f"- {chapter}: {', '.join(names)}" for chapter, names in sorted(chapters.items()))
    parts = [
        f"# {kind.message}",
        about,
        "### How a file is recognized",
        recognized.format(message=kind.message),
        "### Places",
        f"Places begin at the root of the message, which is called `{kind.noun}`.",
        f"### {counted(sum(map(len, chapters.values())), 'rule')}",
        rules,
    ]
    return "\n\n".join(parts) + "\n"


def _rules(kind: DocumentKind) -> Iterator[Registered]:
    return (entry for entry in registry().values() if entry.needs in kind.holds)
