# SPDX-License-Identifier: Apache-2.0
"""How many modules name an operator of ONNX Runtime: its record says what is known of it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from support.project.checkout import ROOT
from support.project.syntax_trees import files, nodes_of

from onnx_lint.spec.operators import BUILT_IN
from onnx_lint.spec.operators.records import families

MOST = 2
"""The module of the record, and one more, such as the table of output types."""

MORE = {"DecoderMaskedMultiHeadAttention": "the records of searches name it, as a node of the decoders that they run"}
"""Operators that more modules name, with the reason."""

OWN = families().keys() - {name for domain in ("", "ai.onnx.ml") for name in BUILT_IN.operator_names(domain)}
"""The operators whose names no operator of ONNX has."""


def _strings(path: Path) -> Iterator[str]:
    """Yield the strings of a module, without those that stand alone: docstrings and descriptions of names."""
    nodes = nodes_of(path)
    alone = {id(each.value) for each in nodes if isinstance(each, ast.Expr)}
    for each in nodes:
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in alone:
            yield each.value


def test_two_modules_at_most_name_an_operator_of_onnx_runtime():
    homes = defaultdict(set)
    for path in files():
        for text in _strings(path):
            for name in OWN.intersection(re.findall(r"\w+", text)):
                homes[name].add(path.relative_to(ROOT).as_posix())
    assert homes.keys() == OWN
    many = {name: sorted(modules) for name, modules in homes.items() if len(modules) > MOST}
    assert many.keys() == MORE.keys(), many
