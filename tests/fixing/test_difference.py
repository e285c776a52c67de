# SPDX-License-Identifier: Apache-2.0
"""The output of `--diff`: the lines before and after, with their numbers, and two lines around them."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from google.protobuf import text_format
from support.fixes.applied import check_applied
from support.fixes.case import Case
from support.fixes.deleting import DELETING
from support.fixes.fixed import fixed_model
from support.fixes.fixtures import faulty_files
from support.fixes.safe import SAFE
from support.fixes.unsafe import UNSAFE
from support.project.each_case import each_case

from onnx_lint import schema
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.difference import difference_of
from onnx_lint.fixing.rounds import FixOutcome, Round
from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.places.edits import Assign, Delete, Edit, Insert, Move, Shorten
from onnx_lint.ir.places.place import ROOT
from onnx_lint.ir.places.splices import Splicer
from onnx_lint.report.file_report import FileReport

CASES = [*SAFE, *UNSAFE, *DELETING]
GRAPH = ROOT.at("graph")
NODES = "".join(f'node {{ op_type: "Op{name}" input: "x" output: "{name}" }} ' for name in "abcdefghi")
MODEL = f"""ir_version: 10 producer_name: "p" opset_import {{ version: 21 }} opset_import {{ domain: "a.b" version: 1 }}
graph {{ name: "g" {NODES} value_info {{ name: "a" }} value_info {{ name: "b" }}
    initializer {{ name: "w" data_location: EXTERNAL external_data {{ key: "location" value: "old.bin" }} }} }}
functions {{ name: "F" domain: "d" }}
functions {{ name: "G" domain: "d" node {{ op_type: "One" output: "o" }} node {{ op_type: "Two" output: "p" }} }}"""


def _difference(*rounds: tuple[Edit, ...], prefix: bytes = b"") -> list[str]:
    proto = text_format.Parse(MODEL, schema.message("ModelProto")(), descriptor_pool=schema.pool())
    source = unpatched(BytesSource(prefix + proto.SerializeToString(deterministic=True)))
    made = []
    for edits in rounds:
        splicer = Splicer(source, "ModelProto")
        made.append(Round(source, edits, "ModelProto"))
        source = source.patched(splice.patch for splice in splicer.with_lengths(splicer.splices_of(edits)))
    mended = FixOutcome(source, FileReport("m.onnx", 0), tuple(made))
    return difference_of(mended, "m.onnx", Settings()).splitlines()


def test_nothing_that_changes_is_nothing_to_show():
    assert _difference() == []


def test_a_node_that_moves_is_shown_where_it_was_and_where_it_goes():
    assert _difference((Move(GRAPH.at("node", 7), 1),)) == [
        "--- m.onnx",
        "+++ m.onnx",
        "@@ graph.node[0] @@",
        "     0 | a = Opa (x)",
        "+    1 | h = Oph (x)",
        "     1 | b = Opb (x)",
        "     2 | c = Opc (x)",
        "     3 | d = Opd (x)",
        "@@ graph.node[5] @@",
        "     5 | f = Opf (x)",
        "     6 | g = Opg (x)",
        "-    7 | h = Oph (x)",
        "     8 | i = Opi (x)",
    ]


def test_changes_near_each_other_are_shown_together():
    edits = (Delete(GRAPH.at("node", 0)), Assign(GRAPH.at("node", 3).at("op_type"), "New"))
    assert _difference(edits)[2:] == [
        "@@ graph.node[0] @@",
        "-    0 | a = Opa (x)",
        "     1 | b = Opb (x)",
        "     2 | c = Opc (x)",
        "-    3 | d = Opd (x)",
        "+    2 | d = New (x)",
        "     4 | e = Ope (x)",
        "     5 | f = Opf (x)",
    ]


def test_what_goes_to_the_end_comes_after_the_last():
    imported = schema.message("OperatorSetIdProto")(domain="new", version=3)
    assert _difference((Insert(ROOT.at("opset_import", 2), imported),))[2:] == [
        "@@ opset_import[0] @@",
        '     0 | opset_import "" : 21',
        '     1 | opset_import "a.b" : 1',
        '+    2 | opset_import "new" : 3',
    ]


def test_a_field_that_is_no_list_has_a_line_before_and_after():
    assert _difference((Assign(ROOT.at("ir_version"), 13),))[2:] == [
        "@@ ir_version @@",
        "-      | ir_version: 10",
        "+      | ir_version: 13",
    ]


def test_in_a_list_that_changes_the_messages_have_other_numbers_afterwards():
    edits = (Delete(ROOT.at("functions", 0)), Move(ROOT.at("functions", 1).at("node", 1), 0))
    lines = _difference(edits)
    assert lines[-4:] == [
        "@@ functions[1].node[0] @@",
        "+    0 | p = Two ()",
        "     0 | o = One ()",
        "-    1 | p = Two ()",
    ]


def test_each_round_is_shown_by_itself():
    lines = _difference((Delete(GRAPH.at("value_info", 1)),), (Delete(GRAPH.at("value_info", 0)),))
    assert [line for line in lines if line.startswith(("-", "+"))] == [
        "--- m.onnx",
        "+++ m.onnx",
        "-    1 | value_info b",
        "--- m.onnx (round 2)",
        "+++ m.onnx (round 2)",
        "-    0 | value_info a",
    ]


def test_what_has_no_line_of_its_own_is_shown_by_its_value():
    """A header has one line for a graph or function, and the location of external data none."""
    assert _difference((Assign(GRAPH.at("name"), "h"), Assign(ROOT.at("functions", 0).at("domain"), "e")))[2:] == [
        "@@ graph.name @@",
        "-      | graph g () => () {...}",
        "+      | graph h () => () {...}",
        "@@ functions[0].domain @@",
        "-    0 | function d.F () => () {...}",
        "+    0 | function e.F () => () {...}",
    ]
    location = GRAPH.at("initializer", 0).at("external_data", 0).at("value")
    assert _difference((Assign(location, "new.bin"),))[2:] == [
        "@@ graph.initializer[0] @@",
        '-      | graph.initializer[0].external_data[0].value: "old.bin"',
        '+      | graph.initializer[0].external_data[0].value: "new.bin"',
    ]


def test_values_of_a_repeated_field_that_go_are_shown():
    assert _difference((Delete(ROOT.at("producer_name"), keeps_last=True),), prefix=b"\x12\x01q")[2:] == [
        "@@ producer_name @@",
        '-      | producer_name: "q"',
    ]


def test_numbers_are_shown_by_their_bytes():
    assert _difference((Shorten(), Delete(GRAPH.at("value_info", 1))), prefix=b"\x08\x8a\x00")[2:] == [
        "@@ numbers in fewer bytes, with the same values @@",
        "-      | value of ir_version: 8a 00",
        "+      | value of ir_version: 0a",
        "@@ graph.value_info[0] @@",
        "     0 | value_info a",
        "-    1 | value_info b",
    ]


def test_a_deleted_function_has_a_line():
    assert _difference((Delete(ROOT.at("functions", 1)),))[2:] == [
        "@@ functions[0] @@",
        "     0 | function d.F () => () {...}",
        "-    1 | function d.G () => () {...}",
    ]


def test_values_that_the_line_does_not_show_have_lines_of_their_own():
    entry = schema.message("StringStringEntryProto")(key="k", value="v")
    node = GRAPH.at("node", 8)
    edits = (Assign(node.at("op_type"), "New"), Insert(node.at("metadata_props", 0), entry))
    assert _difference(edits)[-3:] == [
        "-    8 | i = Opi (x)",
        "+    8 | i = New (x)",
        '+      | graph.node[8].metadata_props[0]: {key: "k", value: "v"}',
    ]


def test_of_a_long_value_the_size_and_the_digest_are_shown():
    text = "x" * 5000
    digest = hashlib.sha256(text.encode()).hexdigest()
    (line,) = (line for line in _difference((Assign(ROOT.at("doc_string"), text),))[2:] if line.startswith("+"))
    assert line.endswith(f", 5,000 bytes (SHA-256 {digest})")
    assert len(line) < 1200
    lines = _difference((Assign(ROOT.at("doc_string"), text),), (Delete(ROOT.at("doc_string")),))
    assert lines[-1] == f"-      | doc_string: 5,000 bytes (SHA-256 {digest})"


def _check_fixtures(**chosen: Any) -> int:
    """Check the difference of each fixture that has one, and return their number."""
    count = 0
    for name, data, settings in faulty_files(**chosen):
        outcome = fixed_model(BytesSource(data), settings, unsafe=True)
        count += bool(outcome.rounds)
        try:
            check_applied(outcome, settings)
        except AssertionError as error:
            raise AssertionError(name) from error
    return count


def test_the_difference_leads_from_the_text_of_a_model_to_that_of_its_fix():
    assert _check_fixtures(one_in=12) > 8


@pytest.mark.slow
def test_the_difference_leads_from_the_text_of_any_fixture_to_that_of_its_fix():
    assert _check_fixtures(of_all_rules=True) > 400


@each_case("case", [case for case in CASES if case.is_mended], ids=lambda case: f"{case.rule} {case.id}", one_in=3)
def test_the_difference_leads_from_the_text_of_a_case_to_that_of_its_fix(case: Case) -> None:
    settings = Settings(select=(case.rule,), options={case.rule: case.options})
    check_applied(fixed_model(BytesSource(case.models()[0]), settings, unsafe=True), settings)
