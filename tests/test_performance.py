# SPDX-License-Identifier: Apache-2.0
"""Claims of speed stand in one ledger: the code cites its rows, and the benchmark measures each of them."""

from __future__ import annotations

import ast
import importlib
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from support.project.checkout import ROOT
from support.project.syntax_trees import files, nodes_of

pytestmark = pytest.mark.slow

CITED = re.compile(r"docs/performance\.md:\s+([a-z-]+)")
PART = "half|third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|twelfth|fifteenth|twentieth|fiftieth|hundredth"
CLAIM = re.compile(
    r"\d ?(?:ms|µs|us|microseconds?|milliseconds?)\b"
    rf"|\b(?:{PART})s? of (?:the|its|a|all) (?:time|run|price|start-up)"
    r"|times (?:as (?:long|fast|quick)|faster|slower|longer)"
    r"|\b(?:takes?|took) (?:longer|as long|a second) |\bcosts? (?:more|less|twice|half|ten)\b"
    r"|\b(?:cheaper|cheapest|quicker|quickest|faster|fastest|slower|slow)\b"
)


@pytest.fixture(scope="module")
def ledger() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        yield importlib.import_module("ledger")


@pytest.fixture(scope="module")
def texts() -> list[tuple[Path, str]]:
    """The comments of each module, those of neighbouring lines as one, and the strings that are documentation."""
    return list(_texts())


def _texts() -> Iterator[tuple[Path, str]]:
    for path in files():
        tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
        yield path, " ".join(token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT)
        for node in nodes_of(path):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                yield path, " ".join(node.value.value.split())


def test_the_rows_are_those_that_the_benchmark_measures(ledger: ModuleType):
    assert list(ledger.rows()) == list(ledger.PAIRS)


def test_every_row_says_that_something_is_gained(ledger: ModuleType):
    assert [name for name, (quick, slow) in ledger.rows().items() if quick >= slow] == []


def test_the_rows_are_those_that_the_code_cites(ledger: ModuleType, texts: list[tuple[Path, str]]):
    assert {name for _, text in texts for name in CITED.findall(text)} == set(ledger.PAIRS)


def test_no_comment_has_figures_of_its_own(texts: list[tuple[Path, str]]):
    claims = [f"{path.relative_to(ROOT)}: {found[0]}" for path, text in texts for found in CLAIM.finditer(text)]
    assert claims == []


@pytest.mark.timing
def test_a_row_is_measured(ledger: ModuleType, tmp_path: Path):
    """Two processes of Python in each round: the way from below the descriptor pool really leaves imports out."""
    quick, slow = ledger.Bench(tmp_path).measure(ledger.PAIRS["descriptor-set"])
    assert quick < slow
