# SPDX-License-Identifier: Apache-2.0
"""The patterns for the places of suppressions."""

from __future__ import annotations

import functools
import itertools
import os
import random
import re
from collections.abc import Iterator

import onnx.parser
import pytest
from support.baselines.exchanged import doubled
from support.project.checkout import ROOT
from support.project.each_case import each_case
from support.project.fixture_files import Fixture, fixtures_of

from onnx_lint.engine import suppressions
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.registry import registry
from onnx_lint.engine.settings import Settings, options_of
from onnx_lint.engine.suppressions import PlacePatterns, Suppression, split_by_entry
from onnx_lint.input.globs import matches
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.places.place import EnclosingNames
from onnx_lint.loader import load
from onnx_lint.model import Fix, Model
from onnx_lint.reporters.fingerprint import digest_of, fingerprints
from onnx_lint.rule import Finding

PATTERNS = ["*", "a*", "*b", "a*b", "*x*y*", "ab*ab", "**", "abab", "", "a*a*b*b", "x*", "[a]?*", "a.b[1]"]
TEXTS = ["", "ab", "abab", "axyb", "aabb", "ba", "aab", "xy\n", "abxab", "[a]?", "a.b[1]", "ab1"]


def _is_like(text: str, pattern: str) -> bool:
    """Return whether the text matches, by a regular expression."""
    expression = ".*".join(map(re.escape, pattern.split("*")))
    return not pattern or re.fullmatch(expression, text, re.DOTALL) is not None


@each_case("pattern", PATTERNS)
def test_a_pattern_matches_what_the_regular_expression_does(pattern: str) -> None:
    places = PlacePatterns([Suppression("w", "r", "reason", pattern)])
    for text in TEXTS:
        found = places.first(text, None, EnclosingNames())
        assert (found is not None) == _is_like(text, pattern), (pattern, text)


def test_the_first_entry_that_matches_any_name_is_found() -> None:
    """Whatever the order of the kinds of patterns is, and whichever of the four names matches."""
    chance = random.Random(61)
    for _ in range(2_000):
        patterns = chance.choices(PATTERNS, k=chance.randrange(5))
        place, subject, node, first, last = chance.choices(TEXTS, k=5)
        entries = [Suppression(str(number), "r", "reason", each) for number, each in enumerate(patterns)]
        around = EnclosingNames(node=chance.choice([node, None]), scope=(first, last, ""))
        innermost = last or first or None
        names = [each for each in (place, subject, around.node, innermost) if each is not None]
        expected = [entry for entry in entries if any(_is_like(name, entry.place) for name in names)]
        assert PlacePatterns(entries).first(place, subject, around) == next(iter(expected), None), (patterns, names)


FILES = [
    "m.onnx",
    "./m.onnx",
    "zoo/m.onnx",
    "../m.onnx",
    "*.onnx",
    "[m].onnx",
    "zoo",
    "/srv/zoo/m.onnx",
    "s3://b/m.onnx",
]
GLOBS = ["zoo/**", "zoo/", "**/m.onnx", "../zoo/[mn].onnx", "m.onn?", "s3://b/*/m.onnx", ".."]


@each_case("pattern", [*FILES, *GLOBS])
def test_a_pattern_for_files_is_that_of_globs(pattern: str) -> None:
    """Although most files are left out by their name alone."""
    for path in [*FILES, "/srv/m.onnx", "zoo//m.onnx", "zoo/../m.onnx", "-"]:
        for folder in ("/srv", "/srv/zoo", os.getcwd()):
            entry = Suppression("w", "r", "reason", file=pattern, directory=folder)
            assert entry.is_for(path) == matches(pattern, path, folder), (path, folder)


def test_a_finding_is_compared_with_few_of_many_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only with those whose pattern has a `*` before its end and a text in a name, up to the first that matches."""
    compared = 0
    real = suppressions._is_like

    def counting(text: str, texts: list[str]) -> bool:
        nonlocal compared
        compared += 1
        return real(text, texts)

    monkeypatch.setattr(suppressions, "_is_like", counting)
    patterns = [f"layer_{number}{end}" for number in range(1_000) for end in ("", "/*")]
    patterns += ["other*x", "layer_999/x", "*inner*"]
    places = PlacePatterns([Suppression("w", "r", "reason", pattern) for pattern in patterns])
    for name, count, pattern in [
        ("layer_7", 0, "layer_7"),
        ("layer_7/op", 0, "layer_7/*"),
        ("none", 0, None),
        ("other y", 1, None),
        ("an inner one", 1, "*inner*"),
        ("another inner x", 2, "*inner*"),
        ("layer_999/x", 0, "layer_999/*"),
    ]:
        compared = 0
        found = places.first(name, None, EnclosingNames())
        assert (found.place if found is not None else None, compared) == (pattern, count)


# --- findings about several faults: each fault is suppressed by itself

FOLDING = ("Faults(", "Faults.of_entries(", "folded(", "findings_of_nodes(", "findings_of_nodes,")
"""What the source of a rule has whose findings may be about several faults."""

_FLOAT = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } }"
_BRANCH = (
    'attribute { name: "%s" type: GRAPH g { name: "%s" node { op_type: "Abs" input: "x" output: "h" }'
    ' node { op_type: "Abs" input: "h" output: "%s" } output { name: "%s" } } }'
)
SEVERAL = {
    "mismatched-operand-type": f"""ir_version: 10 opset_import {{ version: 21 }} graph {{ name: "graph"
        input {{ name: "x" {_FLOAT} }}
        initializer {{ name: "r" data_type: 7 int64_data: 0 }}
        node {{ op_type: "Dropout" input: "x" input: "r" input: "r" output: "y" }} }}""",
    "shadowed-name": f"""ir_version: 10 opset_import {{ version: 21 }} graph {{ name: "graph"
        input {{ name: "x" {_FLOAT} }} input {{ name: "c" type {{ tensor_type {{ elem_type: 9 shape {{ }} }} }} }}
        node {{ op_type: "Neg" input: "x" output: "h" }}
        node {{ op_type: "If" input: "c" output: "y" {_BRANCH % ("then_branch", "t", "a", "a")}
               {_BRANCH % ("else_branch", "e", "b", "b")} }} }}""",
    "unsupported-operand-value": """ir_version: 10 opset_import { version: 21 } graph { name: "graph"
        input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 4 } } } } }
        initializer { name: "two" data_type: 7 dims: 2 int64_data: 0 int64_data: 0 }
        node { op_type: "Slice" input: "x" input: "two" input: "two" input: "two" input: "two" output: "y" } }""",
}
"""Models for rules whose fixtures have no finding about several faults."""

_NODE = "0a 01 78 12 01 79 22 03 41 62 73 98 06 01"
"""A node with field 99: input x, output y, Abs."""


def _folding_rules() -> set[str]:
    sources = {path.stem.replace("_", "-"): path.read_text() for path in (ROOT / "rules").glob("*/*.py")}
    return {rule for rule, source in sources.items() if any(mark in source for mark in FOLDING)}


def _places(finding: Finding) -> list[str]:
    parts = [(finding.place, None)] if finding.parts is None else finding.parts.identities()
    return sorted(str(place) for place, *_ in parts)


def _findings_about_several(fixture: Fixture) -> Iterator[tuple[Model, Finding]]:
    """The findings of the rule of a fixture about faults at several places, in the model or in one with it twice."""
    twice = doubled(fixture)
    data = [fixture.data] if twice is None else [fixture.data, twice.SerializeToString()]
    directory = None if fixture.directory is None else str(fixture.directory)
    for each in data:
        yield from _in_model(fixture.rule, each, fixture.settings, directory)


def _in_model(rule: str, data: bytes, settings: Settings, directory: str | None = None) -> list[tuple[Model, Finding]]:
    source, check = BytesSource(data), registry()[rule].rule
    model = load(source, "m.onnx", settings.standard, directory, settings.limits, target=settings.target)
    found = list(check.check(model, **options_of(check, settings))) if model.loaded else []
    return [(model, each) for each in found if len(set(_places(each))) > 1]


@functools.cache
def _of_rule(rule: str, most: int) -> list[tuple[Model, Finding]]:
    if rule == "unknown-field":
        node = bytes.fromhex(_NODE)
        nodes = b"".join(b"\x0a" + bytes([len(node)]) + node for _ in range(2))
        return _in_model(rule, b"\x08\x0a\x3a" + bytes([len(nodes)]) + nodes, Settings())
    if rule in SEVERAL:
        return _in_model(rule, SEVERAL[rule].encode(), Settings())
    wrong = (fixture for fixture in fixtures_of(rule) if not fixture.is_valid)
    found = (each for fixture in wrong for each in _findings_about_several(fixture))
    return list(itertools.islice(found, most))


MOST = pytest.mark.parametrize("most", [3, pytest.param(40, marks=pytest.mark.slow)])
"""The most findings of a rule that a test takes."""


@MOST
@each_case("rule", sorted(_folding_rules()))
def test_a_place_hides_one_fault_of_a_finding_about_several(rule: str, most: int) -> None:
    """The rest of the finding is about all others, and so is the rest of its fix."""
    cases = _of_rule(rule, most)
    assert cases
    for model, finding in cases:
        for place in dict.fromkeys(_places(finding)[:3]):
            hidden, others = _split(finding, model, place)
            assert set(_places(hidden)) == {place}
            assert sorted(_places(hidden) + _places(others)) == _places(finding)
            assert others.clause == finding.clause
            if isinstance(finding.fix, Fix) and others.fix is None:
                assert _edited(finding).isdisjoint(_places(others))
            assert str(others.place) != place
            if not is_one_fix(finding):
                assert place not in _edited(others), (finding.message, place)


@MOST
@each_case("rule", sorted(_folding_rules()))
def test_a_name_that_hides_a_fault_hides_the_finding_on_it(rule: str, most: int) -> None:
    """The finding on what an entry names is compared once more with the entry, and then by its own name."""
    for model, finding in _of_rule(rule, most):
        names: list[str | None] = []
        if finding.parts is not None:
            finding.parts.split(finding, lambda *found, names=names: names.append(found[1]))
        for name in sorted({*filter(None, names)})[:3]:
            patterns = PlacePatterns([Suppression("w", "r", "reason", name)])
            pieces = split_by_entry(finding, patterns, model)
            found = [
                patterns.first(str(each.place), each.subject, model.places.enclosing_names(each.place))
                for each in pieces
            ]
            assert any(found), (finding.message, name)


def test_a_name_hides_a_finding_that_is_about_one_fault_only() -> None:
    """The finding bears the name of the graph, and its one fault that of a value."""
    text = """ir_version: 10 producer_name: "p" opset_import { version: 21 } graph { name: "g"
      node { op_type: "Relu" input: "late" output: "y" } node { op_type: "Abs" input: "x" output: "late" }
      input { name: "x" type { tensor_type { elem_type: 1 shape { } } } }
      output { name: "y" type { tensor_type { elem_type: 1 shape { } } } } }"""
    entry = Suppression("w", "unordered-nodes", "reason", "late")
    file = lint_source(BytesSource(text.encode()), "m.textproto", Settings(suppressions=(entry,)))
    assert [(each.rule, each.suppressed_by) for each in file.suppressed] == [("unordered-nodes", entry.description)]
    assert (file.diagnostics, file.unmatched) == ((), ())


def _split(finding: Finding, model: Model, place: str) -> tuple[Finding, Finding]:
    """The finding on what an entry for the place suppresses, and the one on the rest."""
    pieces = split_by_entry(finding, PlacePatterns([Suppression("w", "r", "reason", place)]), model)
    [hidden] = [each for each in pieces if place in _places(each)]
    [others] = [each for each in pieces if place not in _places(each)]
    return hidden, others


def is_one_fix(finding: Finding) -> bool:
    """Return whether the fix is one edit of the whole model, that mends all faults of its kind."""
    return not isinstance(finding.fix, Fix) or len(finding.fix.with_edits().edits) == 1


def _edited(finding: Finding) -> set[str]:
    if not isinstance(finding.fix, Fix):
        return set()
    return {str(each) for edit in finding.fix.with_edits().edits for each in edit.place.ancestors()}


EXCHANGED = """
<ir_version: 10, opset_import: ["": 21], producer_name: "me">
g (float[N,16] x, float[16,8] w) => (float[N,8] y) { [r] y = Gemm(w, x) }"""
FORMER = "graph.output[0].type.tensor_type.shape.dim[1]"


@pytest.mark.parametrize(
    ("place", "is_suppressed"),
    [(FORMER, True), ("graph.output[0]*", True), ("graph.node[0].input[0]", True), ("graph.output[1]*", False)],
)
def test_a_finding_that_an_older_version_had_elsewhere_is_suppressed_at_both_places(place: str, is_suppressed: bool):
    rule, data = "contradictory-declared-shape", onnx.parser.parse_model(EXCHANGED).SerializeToString()
    entry = Suppression("here", rule, "known", place=place)
    report = lint_source(BytesSource(data), "m.onnx", Settings(select=(rule,), suppressions=(entry,)))
    found = [*report.diagnostics, *report.suppressed]
    assert [(str(each.at), each.suppressed_by is not None) for each in found] == [
        ("graph.node[0].input[0]", is_suppressed)
    ]


def test_a_finding_that_an_older_version_had_elsewhere_keeps_its_fingerprint():
    data = onnx.parser.parse_model(EXCHANGED).SerializeToString()
    (item,) = lint_source(BytesSource(data), "m.onnx", Settings(select=("contradictory-declared-shape",))).diagnostics
    former = item.identity.at_former_place
    assert former is not None
    assert (str(former.at), former.around.node) == (FORMER, None)
    assert [*fingerprints([item])] == [*fingerprints([former])]
    assert digest_of(item) != digest_of(former)
