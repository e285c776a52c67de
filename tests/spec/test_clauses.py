# SPDX-License-Identifier: Apache-2.0
"""The catalogue of clauses: complete, well formed, and the source of every severity."""

import re
from pathlib import Path

import pytest
from support.project.each_case import each_case

import onnx_lint.spec.clauses as module
from onnx_lint.spec.clauses import (
    DEFAULT_EDITION,
    EDITIONS,
    KEYWORDS,
    Clause,
    Severity,
    clauses,
    severity,
    specified_clauses,
)
from onnx_lint.spec.releases import RELEASES
from tools.compile_clauses import SPEC, STATIC, compile_clauses, parse

CATALOGUE_TEXT = """
    VER-1 VER-2 VER-3 VER-4 VER-5 VER-6 VER-7 VER-8 VER-9 VER-10 VER-11 VER-12 VER-13 VER-14
    MOD-0 MOD-1 MOD-2 MOD-3 MOD-4 MOD-5 MOD-6 MOD-7 MOD-8 MOD-9 MOD-10 MOD-11 MOD-12 MOD-13
    META-1 META-2 META-3 META-4 META-5 META-6
    MP-1 MP-2 MP-3
    DEN-1 DEN-2 DEN-3
    OPS-1 OPS-2 OPS-3 OPS-4 OPS-5 OPS-6 OPS-7 OPS-8
    OPR-1 OPR-2 OPR-3 OPR-4 OPR-5
    FUN-G1 FUN-G2 FUN-G3 FUN-G4 FUN-1 FUN-2 FUN-3 FUN-4 FUN-5 FUN-6 FUN-7 FUN-8 FUN-9 FUN-10 FUN-11 FUN-12
    FUN-13 FUN-14 FUN-15 FUN-16 FUN-17 FUN-18 FUN-19 FUN-20 FUN-21 FUN-22 FUN-23 FUN-24 FUN-25 FUN-26
    GRA-1 GRA-2 GRA-4 GRA-5 GRA-6 GRA-7 GRA-8 GRA-9 GRA-10
    VI-1 VI-2 VI-3 VI-4 VI-5 VI-6 VI-7
    INI-1 INI-2 INI-3 INI-4 INI-5 INI-6
    NAM-1 NAM-2 NAM-3 NAM-4 NAM-5 NAM-6 NAM-7 NAM-8
    NOD-1 NOD-2 NOD-3 NOD-4 NOD-5 NOD-6 NOD-7 NOD-8 NOD-9 NOD-10 NOD-11 NOD-12
    SUB-1 SUB-2 SUB-3 SUB-4 SUB-5 SUB-6 SUB-7 SUB-8
    ATT-1 ATT-2 ATT-3 ATT-4 ATT-5 ATT-6 ATT-7 ATT-8 ATT-9 ATT-10 ATT-11 ATT-12 ATT-13 ATT-14
    VAR-1 VAR-2 VAR-3
    OPT-1 OPT-2 OPT-3 OPT-4
    EXT-1 EXT-2 EXT-3 EXT-4 EXT-5 EXT-6 EXT-7 EXT-8 EXT-9 EXT-10 EXT-11 EXT-12 EXT-13 EXT-14 EXT-15 EXT-16
    EXT-17 EXT-18
    TYP-0 TYP-1 TYP-2 TYP-3 TYP-4 TYP-5 TYP-6 TYP-7 TYP-8 TYP-9 TYP-10 TYP-11 TYP-12 TYP-G1 TYP-G2 TYP-G3
    TYP-G4 TYP-D-bfloat16 TYP-D-float8e4m3fn TYP-D-uint4 TYP-D-float4e2m1 TYP-D-float8e8m0 TYP-D-uint2
    TYP-D-float6e2m3 TYP-D-uint32
    SHP-1 SHP-2 SHP-3 SHP-4 SHP-5 SHP-6 SHP-7
    TEN-1 TEN-2 TEN-3 TEN-4 TEN-5 TEN-6 TEN-7 TEN-8 TEN-9 TEN-10 TEN-11 TEN-12 TEN-13 TEN-14 TEN-15 TEN-16
    TEN-17 TEN-18 TEN-19 TEN-20
    SPA-G SPA-1 SPA-2 SPA-3 SPA-4 SPA-5 SPA-6 SPA-7
    TRN-G TRN-1 TRN-2 TRN-3 TRN-4 TRN-5 TRN-6 TRN-7 TRN-8 TRN-9 TRN-10 TRN-11
    DEV-G DEV-1 DEV-2 DEV-3 DEV-4 DEV-5 DEV-6 DEV-7 DEV-8 DEV-9 DEV-10 DEV-11 DEV-12 DEV-13 DEV-14
    QNT-G QNT-1 QNT-2 QNT-3
    VAL-1 VAL-2 VAL-3 VAL-4 VAL-5 VAL-6
    OPF-1 OPF-2 OPF-3 OPF-4 OPF-5 OPF-6
"""

CATALOGUE = CATALOGUE_TEXT.split()
"""The clauses of the specification itself; what else the file holds is the project's own."""

FIRST_EDITIONS = ("1.9", "1.16", "1.21", "1.23")
"""The editions whose differences are tested. Later ones repeat the last of them, but for what they change."""

CHAPTERS = {
    "file", "versioning", "model", "metadata", "denotation", "opset", "function", "graph", "value-info",
    "initializer", "name", "node", "subgraph", "attribute", "signature", "external-data", "type", "shape", "tensor",
    "sparse-tensor", "training", "device", "quantization", "value", "operator-set", "hygiene", "policy", "target",
}  # fmt: skip

SECTIONS = {
    "IR.md": {
        "onnx-versioning", "extensible-computation-graph-model", "models", "optional-metadata",
        "operator-set-identifiers", "operator-sets", "operators", "functions", "graphs", "names-within-a-graph",
        "nodes", "attributes", "variadic-inputs-and-outputs", "optional-inputs-and-outputs", "external-tensor-data",
        "standard-data-types", "tensor-definition", "tensor-element-types", "input--output-data-types",
        "static-tensor-shapes", "other-metadata", "training-related-information", "syntax",
    },
    "Versioning.md": {
        "semantic-versioning-or-simple-numbers", "semver-files-and-frameworks", "ir-versioning",
        "operator-versioning", "signature-changes", "released-versions",
    },
    "ExternalData.md": {"data_location-field", "external_data-field", "external-data-files"},
    "ExternalDataSecurity.md": {"defense-layers"},
    "MetadataProps.md": {"image-category-definition"},
    "TypeDenotation.md": {"type-denotation-definition"},
    "DimensionDenotation.md": {"denotation-definition", "denotation-verification"},
    "ManagingExperimentalOps.md": {"deprecated-experimental-operators"},
    "Operators.md": {"If"},
    "docs/hygiene.md": {""},
    "docs/configuration.md": {"policy"},
    "docs/targets.md": {""},
}  # fmt: skip

SCHEMA_FILES = {"onnx.proto", "onnx-operators.proto", "onnx-data.proto"}

ONE = """
[A-1]
summary = "A sentence."
chapter = "graph"
anchor = "IR.md#graphs"
since = 3
until = 5
keyword = { "1.9" = "MUST", "1.21" = "should", "1.23" = "MAY" }
static = "partly"
rules = ["a-rule"]
presence = "pedantic"
counted = ["thing is odd", "things are odd"]
note = "A note."
refines = "A-0"
"""

FROM_1_23 = dict.fromkeys(EDITIONS[EDITIONS.index("1.23") :], "MAY")
"""The keywords that ONE writes for edition 1.23, which hold for later ones too."""


@pytest.fixture(scope="module")
def schema_messages():
    proto = Path(module.__file__).parent.parent / "schema" / "onnx.proto"
    return set(re.findall(r"^(?:message|enum) (\w+)", proto.read_text(encoding="utf-8"), re.MULTILINE))


def test_the_catalogue_is_complete():
    table = clauses()
    assert [name for name in CATALOGUE if name not in table] == []


def test_every_other_clause_is_the_projects_own_and_says_so():
    own = {name: clause for name, clause in clauses().items() if name not in CATALOGUE}
    wrong = [
        name
        for name, clause in own.items()
        if not (
            re.fullmatch(r"(FIL|HYG|POL|PRD)-\d+", name)
            or (clause.refines and name[:-1] == clause.refines and name[-1].islower())
        )
    ]
    assert wrong == []


def test_what_is_refined_exists_and_refines_nothing_itself():
    table = clauses()
    targets = {name: clause.refines for name, clause in table.items() if clause.refines}
    assert {name: target for name, target in targets.items() if table[target].refines} == {}


@each_case("clause", clauses().values(), ids=lambda clause: clause.id)
def test_the_entry_is_well_formed(clause, schema_messages):
    assert re.fullmatch(r"[A-Z]+(-[A-Z])?-?[A-Za-z0-9]*", clause.id)
    assert re.fullmatch(r"\w.*\.", clause.summary), "a sentence"
    assert "\n" not in clause.summary
    assert clause.chapter in CHAPTERS
    document, _, section = clause.anchor.partition("#")
    assert section in (schema_messages if document in SCHEMA_FILES else SECTIONS[document])
    newest = RELEASES[-1].ir_version
    assert 1 <= clause.since <= newest
    assert clause.until is None or clause.since <= clause.until < newest
    assert clause.keyword
    assert list(clause.keyword) == [edition for edition in EDITIONS if edition in clause.keyword]
    assert set(clause.keyword.values()) <= set(KEYWORDS)
    assert clause.static in STATIC
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+|cycle", rule) for rule in clause.rules)
    assert len(set(clause.rules)) == len(clause.rules)
    for text in (clause.reason, clause.note):
        assert text is None or re.fullmatch(r"\S.*\.", text), "sentences"


def test_a_clause_has_a_rule_or_a_reason_and_never_both():
    table = clauses().values()
    assert [clause.id for clause in table if clause.rules and clause.reason] == []
    assert [clause.id for clause in table if not clause.rules and not clause.reason] == []


def test_what_no_file_shows_has_a_reason():
    assert [clause.id for clause in clauses().values() if clause.static == "no" and not clause.reason] == []


def test_a_rule_is_no_instruction():
    rules = {rule for clause in clauses().values() for rule in clause.rules}
    assert [rule for rule in rules if re.match(r"(check|no|avoid|use|must|should|forbid|require)-", rule)] == []


def test_what_is_not_listed_is_only_what_some_edition_does_not_demand():
    unlisted = [clause for clause in clauses().values() if clause.presence == "pedantic"]
    always = [c.id for c in unlisted if all(severity(c, edition) is Severity.ERROR for edition in c.keyword)]
    assert always == []


def test_the_gates_hold_in_every_edition():
    gates = [clause for clause in clauses().values() if "gate" in clause.keyword.values()]
    assert [clause.id for clause in gates if clause.keyword != dict.fromkeys(EDITIONS, "gate")] == []
    keepers = {("premature-feature",), ("premature-opset-import",), ("unsupported-by-target",)}
    assert [clause.id for clause in gates if clause.rules not in keepers] == []


@each_case(
    ("name", "words"),
    [
        ("NAM-1", ("MUST", "MUST", "MUST", "SHOULD")),
        ("SHP-3", ("MUST", "MUST", "MUST", "SHOULD")),
        ("MOD-8", ("MUST", "MUST", "SHOULD", "SHOULD")),
        ("MOD-9", ("MUST", "MUST", "SHOULD", "SHOULD")),
        ("META-1", ("should", "should", "must", "should")),
        ("OPS-8", ("SHALL", "SHALL", "MUST", "SHALL")),
        ("FUN-7", (None, "must", "MUST", "must")),
        ("SUB-2", (None, None, "MUST", "MUST")),
        ("SUB-3", (None, None, "MUST", "MUST")),
        ("SUB-5a", ("MUST NOT", None, None, None)),
        ("OPT-4", (None, "must", "MUST", "MUST")),
        ("DEV-1", (None, None, "MUST", "MUST")),
        ("TEN-15", (None, None, None, "MUST")),
        ("TYP-D-uint32", ("should", None, None, None)),
    ],
)
def test_the_editions_differ_where_their_texts_do(name, words):
    assert tuple(clauses()[name].keyword.get(edition) for edition in FIRST_EDITIONS) == words


def test_severity_follows_the_keyword_of_the_edition():
    assert [severity("NAM-1", edition) for edition in FIRST_EDITIONS] == [Severity.ERROR] * 3 + [Severity.WARNING]
    assert [severity("SUB-2", edition) for edition in FIRST_EDITIONS] == [None, None, *[Severity.ERROR] * 2]
    assert severity("VI-5") is Severity.NOTE
    assert severity(clauses()["GRA-5"], "1.9") is Severity.ERROR


def test_severities_are_ordered_and_labelled():
    assert sorted([Severity.ERROR, Severity.NOTE, Severity.WARNING]) == [
        Severity.NOTE,
        Severity.WARNING,
        Severity.ERROR,
    ]
    assert [level.label for level in Severity] == ["note", "warning", "error"]
    assert Severity.of("warning") is Severity.WARNING
    with pytest.raises(ValueError, match="unknown severity 'fatal'; the severities are note, warning, error"):
        Severity.of("fatal")


def test_the_newest_edition_is_the_default():
    assert EDITIONS[: len(FIRST_EDITIONS)] == FIRST_EDITIONS
    assert EDITIONS[-1] == DEFAULT_EDITION


def test_an_unknown_clause_edition_or_keyword_is_a_value_error():
    with pytest.raises(ValueError, match="unknown clause 'GRA-99'"):
        severity("GRA-99", "1.23")
    with pytest.raises(ValueError, match=r"unknown edition '2\.0'"):
        severity("GRA-5", "2.0")
    odd = parse(ONE)["A-1"]
    broken = Clause(**{field: getattr(odd, field) for field in odd.__slots__} | {"keyword": {"1.23": "OUGHT"}})
    with pytest.raises(ValueError, match="clause 'A-1' has the unknown keyword 'OUGHT'"):
        severity(broken, "1.23")


def test_a_table_becomes_a_clause():
    assert parse(ONE) == {
        "A-1": Clause(
            id="A-1",
            summary="A sentence.",
            chapter="graph",
            anchor="IR.md#graphs",
            since=3,
            until=5,
            keyword={"1.9": "MUST", "1.16": "MUST", "1.21": "should", **FROM_1_23},
            static="partly",
            rules=("a-rule",),
            reason=None,
            presence="pedantic",
            counted=("thing is odd", "things are odd"),
            note="A note.",
            refines="A-0",
        )
    }


def test_a_keyword_carries_on_until_a_later_edition_has_another():
    ended = parse(ONE.replace('"should"', '"absent"'))["A-1"]
    assert dict(ended.keyword) == {"1.9": "MUST", "1.16": "MUST", **FROM_1_23}
    late = parse(ONE.replace('"1.9" = "MUST", ', ""))["A-1"]
    assert dict(late.keyword) == {"1.21": "should", **FROM_1_23}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('summary = "A sentence."\n', "", "clause 'A-1' has no summary"),
        ("since = 3", 'since = "3"', "clause 'A-1': since is not of type int"),
        ("refines", "refine", "clause 'A-1' has an unknown key 'refine'"),
        ('"MAY"', '"may"', "clause 'A-1' has the unknown keyword 'may' in edition 1.23"),
        ('"1.9"', '"1.8"', "clause 'A-1' names the unknown edition '1.8'"),
        ('"pedantic"', '"seen"', "clause 'A-1': presence is 'seen', not one of listed, pedantic, optional"),
        (
            '"pedantic"',
            '"listed"',
            "clause 'A-1': counted holds words for one and for several, where presence is 'pedantic'",
        ),
        (
            ', "things are odd"',
            "",
            "clause 'A-1': counted holds words for one and for several, where presence is 'pedantic'",
        ),
        ('"partly"', '"maybe"', "clause 'A-1': static is 'maybe', not one of yes, partly, no"),
        ("[A-1]", "[A-1", "Expected"),
    ],
)
def test_a_malformed_table_is_a_value_error(old, new, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        parse(ONE.replace(old, new))


def test_clauses_are_frozen_and_read_once():
    assert clauses() is clauses()
    with pytest.raises(TypeError):
        clauses()["GRA-5"] = None
    with pytest.raises(AttributeError):
        clauses()["GRA-5"].summary = "x"
    with pytest.raises(TypeError):
        clauses()["GRA-5"].keyword["1.23"] = "MAY"


def test_no_path_or_host_slipped_in():
    text = (Path(module.__file__).parent / "clauses.toml").read_text(encoding="utf-8")
    assert re.findall(r"/(?:work|root|home|tmp)\b|https?://", text) == []


def test_compiled_clauses_are_those_of_the_source():
    """`python -m tools.compile_clauses` renews them."""
    source = (SPEC / "clauses.toml").read_text(encoding="utf-8")
    assert (SPEC / "clauses.jsonl").read_text(encoding="utf-8") == compile_clauses(source)
    assert dict(specified_clauses()) == parse(source)
