# SPDX-License-Identifier: Apache-2.0
"""Models in the text format and in JSON are fixed as text, in any layout."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.fixes.case import Case
from support.fixes.layouts import laid_out, parsed, written
from support.fixes.safe import SAFE
from support.fixes.unsafe import UNSAFE

from onnx_lint import schema
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.files import Mending, fix_file
from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.places.edits import Assign, Delete, Edit, Insert, Move
from onnx_lint.ir.places.place import ROOT
from onnx_lint.ir.places.splices import EditError
from onnx_lint.text_edits.text_splices import TextSplicer

CASES = [case for case in (*SAFE, *UNSAFE) if not case.first[0]]
"""Those whose fault a text can have."""

HEAD = """# a model
ir_version: 10   # the version
producer_name: "p" producer_version: "1"
opset_import { version: 21 }
"""
TAIL = """  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
}
"""
USER = """  node {
    # uses "a" { of the other node
    name: "s" op_type: "Abs" input: "a" output: "y"
  }
"""
PRODUCER = '  node: < name: "r" op_type: "Relu" input: "x" output: "a" >;\n'
STALE = '  value_info { name: "gone" }\n'


def _model(*parts: str) -> str:
    return HEAD + "graph {\n  name: 'g'\n" + "".join(parts) + TAIL


def _fixed(text: str, folder: Path, *, name: str = "m.textproto", unsafe: bool = False) -> tuple[str, tuple[str, ...]]:
    path = folder / name
    path.write_bytes(text.encode())
    rules = "unordered-nodes", "unknown-value-info-name", "duplicate-value-info", "outdated-ir-version"
    report = fix_file(str(path), Settings(select=(*rules, "missing-opset-import")), Mending(unsafe=unsafe))
    assert report.repair is not None
    return path.read_bytes().decode(), report.repair.not_made


def test_nodes_are_put_in_order_and_comments_stay(tmp_path: Path):
    comment = "  # between\n"
    fixed, not_made = _fixed(_model(USER, comment, PRODUCER), tmp_path)
    assert (fixed, not_made) == (_model(PRODUCER, USER, comment), ())


def test_the_last_node_moves_as_well(tmp_path: Path):
    third = '  node { name: "t" op_type: "Neg" input: "x" output: "z" }\n'
    fixed, _ = _fixed(_model(USER, PRODUCER, third), tmp_path)
    assert fixed in (_model(PRODUCER, USER, third), _model(PRODUCER, third, USER))


def test_entries_are_deleted(tmp_path: Path):
    known = '  value_info { name: "a" }\n'
    text = _model(PRODUCER, USER, STALE, known, STALE, known)
    assert _fixed(text, tmp_path) == (_model(PRODUCER, USER, known), ())


def test_what_shares_its_line_goes_alone(tmp_path: Path):
    fixed, not_made = _fixed(
        _model(PRODUCER.rstrip("\n"), " # of a\n", USER.rstrip("\n"), f" {STALE.strip()} # gone\n"), tmp_path
    )
    assert fixed == _model(PRODUCER.rstrip("\n"), " # of a\n", USER.rstrip("\n"), " # gone\n")
    assert not_made == ()


def test_a_field_is_set_and_its_comment_stays(tmp_path: Path):
    text = _model(PRODUCER, USER).replace("ir_version: 10", "ir_version: 8")
    assert _fixed(text, tmp_path) == (text, ())
    assert _fixed(text, tmp_path, unsafe=True) == (_model(PRODUCER, USER), ())


def test_a_field_that_is_missing_is_added_to_its_message(tmp_path: Path):
    text = (
        _model(PRODUCER, USER).replace("ir_version: 10", "ir_version: 8").replace("opset_import { version: 21 }\n", "")
    )
    fixed, not_made = _fixed(text, tmp_path, unsafe=True)
    assert (fixed, not_made) == (f'{text}opset_import {{ domain: "" version: 18 }}\n', ())


def test_all_other_characters_stay(tmp_path: Path):
    text = "\ufeff" + _model(PRODUCER, USER, STALE, "  # ö\n").replace("# a model", "# ein schönes Modell 🙂\r")
    assert _fixed(text, tmp_path) == (text.replace(STALE, ""), ())


IN_LISTS = [
    ("[ {gone} ]", "[  ]"),
    ("[{gone}, {kept}]", "[{kept}]"),
    ("[{kept}, {gone}]", "[{kept}]"),
    ("[{kept}, {gone}, {y}]", "[{kept}, {y}]"),
    ("[{gone}, {kept}, {gone}, {gone}]", "[{kept}]"),
    ("[{gone}, {gone}]", "[]"),
    ("[{kept} # a, b\n, {gone} # }\n]", "[{kept} # a, b\n # }\n]"),
    ("[\n  {kept},  # stays\n  {gone},\n  {y}\n]", "[\n  {kept},  # stays\n  {y}\n]"),
    ("[\n  {kept},  # stays\n  # of gone\n  {gone}\n]", "[\n  {kept}  # stays\n  # of gone\n]"),
    ("[\n  {kept}\n  , {gone}\n  , {y}\n]", "[\n  {kept}\n  , \n  {y}\n]"),
]
"""Lists in brackets before and after the deletion of elements."""


@pytest.mark.parametrize(("before", "after"), IN_LISTS)
def test_messages_in_brackets_are_deleted_with_their_commas(before: str, after: str, tmp_path: Path):
    names = {"{gone}": '{ name: "gone" }', "{kept}": "< name: 'a' >", "{y}": '{ name: "b" doc_string: "[" " ]," }'}

    def model(entries: str) -> str:
        for name, message in names.items():
            entries = entries.replace(name, message)
        second = '  node { name: "t" op_type: "Abs" input: "a" output: "b" }\n'
        return _model(PRODUCER, second, USER, f"  value_info {entries}\n")

    assert _fixed(model(before), tmp_path) == (model(after), ())


@pytest.mark.parametrize(("before", "after"), [("[{user}, {producer}]", "[{producer}, {user}]")])
def test_messages_in_brackets_are_moved(before: str, after: str, tmp_path: Path):
    names = {
        "{user}": '{ name: "s" op_type: "Abs" input: "a" output: "y" }',
        "{producer}": '{ name: "r" op_type: "Relu" input: ["x"] output: "a" }',
    }

    def model(nodes: str) -> str:
        for name, message in names.items():
            nodes = nodes.replace(name, message)
        return _model(f"  node: {nodes}\n")

    assert _fixed(model(before), tmp_path) == (model(after), ())


@pytest.mark.parametrize("nodes", ["node [{user}]\n  node [{producer}]", "node [{user}]\n  node {producer}"])
def test_no_element_is_moved_from_or_to_a_list_of_others(nodes: str, tmp_path: Path):
    user, producer = USER.strip().removeprefix("node"), PRODUCER.strip().removeprefix("node: ").removesuffix(";")
    text = _model("  " + nodes.replace("{user}", user).replace("{producer}", producer) + "\n")
    fixed, (why,) = _fixed(text, tmp_path)
    assert fixed == text
    assert why == "unordered-nodes: the fix cannot be made: the text has several lists of the field"


def test_a_comment_between_the_pieces_of_a_string_stays(tmp_path: Path):
    old = 'metadata_props { key: "k" value: "v" # of v\n "w" }'
    source = BytesSource(old.encode())
    edits = [Assign(ROOT.at("metadata_props", 0).at("value"), "new")]
    splicer = TextSplicer(source, "ModelProto", "textproto", edits)
    with pytest.raises(EditError, match="a comment is between the pieces of a string"):
        splicer.splices_of(edits)
    source = BytesSource(old.replace("\n", "\n}\n#").encode())
    splicer = TextSplicer(source, "ModelProto", "textproto", edits)
    (splice,) = splicer.splices_of(edits)
    assert (splice.pieces, splice.end) == ((b'"new"',), old.index(" # of v"))


def test_json_is_mended_and_its_layout_stays(tmp_path: Path):
    text = """{"irVersion": "8", "producerName": "p ö", "producerVersion": "1",
    "opsetImport": [{"version": 21}], "graph": {"name": "g", "node": [
        {"input": ["a"], "output": ["y"], "opType": "Abs", "name": "s"},
        {"input": ["x"], "output": ["a"], "opType": "Relu", "name": "r"}
    ], "valueInfo": [{"name": "gone"}], "input": [], "output": []}}"""
    fixed, not_made = _fixed(text, tmp_path, name="m.json", unsafe=True)
    assert not_made == ()
    assert (
        fixed
        == """{"irVersion": "10", "producerName": "p ö", "producerVersion": "1",
    "opsetImport": [{"version": 21}], "graph": {"name": "g", "node": [
        {"input": ["x"], "output": ["a"], "opType": "Relu", "name": "r"},
        {"input": ["a"], "output": ["y"], "opType": "Abs", "name": "s"}
    ], "valueInfo": [], "input": [], "output": []}}"""
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}{': ' if case.id else ''}{case.id}")
def test_each_fix_is_made_in_a_text_of_any_layout(case: Case, tmp_path: Path):
    """The fix of a text makes what the fix of the binary form makes."""
    choose = random.Random(case.rule + case.id)
    old, new = map(schema.message("ModelProto").FromString, case.models())
    for name, content in case.files.items():
        (tmp_path / name).write_bytes(content)
    for form in ("textproto", "json"):
        path = tmp_path / f"model.{form}"
        text = laid_out(written(old, form, choose), form, choose)
        path.write_bytes(text.encode())
        assert parsed(text, form) == old
        settings = Settings(select=(case.rule,), options={case.rule: case.options})
        report = fix_file(str(path), settings, Mending(unsafe=True))
        assert report.repair is not None
        assert report.repair.not_made == ()
        assert parsed(path.read_bytes().decode(), form) == new, text


NAMES = "abcdefgh"


@pytest.mark.parametrize("form", ["textproto", "json"])
def test_any_edits_of_lists_make_what_they_make_of_the_binary_form(form: str):
    choose = random.Random(form)
    made = 0
    for _ in range(400):
        count = choose.randint(1, len(NAMES))
        proto = schema.message("ModelProto")()
        for name in NAMES[:count]:
            proto.metadata_props.add(key=name, value=choose.choice(["", "ö", '"}],', "\\\n"]))
        source = BytesSource(laid_out(written(proto, form, choose), form, choose).encode())
        edits = _some_edits(choose, count)
        try:
            splicer = TextSplicer(source, "ModelProto", form, edits)
            splices = splicer.with_lengths(splicer.splices_of(edits))
        except EditError:
            continue
        after = unpatched(source).patched(splice.patch for splice in splices)
        assert splicer.problem(after, edits) is None
        made += 1
    assert made > 250


def _some_edits(choose: random.Random, count: int) -> list[Edit]:
    found: list[Edit] = []
    for index in choose.sample(range(count), choose.randint(1, count)):
        place = ROOT.at("metadata_props", index)
        found.append(
            choose.choice(
                [
                    Delete(place),
                    Move(
                        place,
                        choose.choice([each for each in range(count + 1) if each not in (index, index + 1)] or [index]),
                    ),
                    Assign(place.at("value"), choose.choice(["new", '"ü\\'])),
                    Delete(place.at("value")),
                ]
            )
        )
    if not any(isinstance(edit, Move) and edit.before == count for edit in found) and choose.random() < 0.5:
        entry = schema.message("StringStringEntryProto")(key="new", value="ß")
        found.append(Insert(ROOT.at("metadata_props", count), entry))
    return found
