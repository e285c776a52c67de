# SPDX-License-Identifier: Apache-2.0
"""Models in the text format are mended as text, and anything that is not a message on its own lines is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.files import Mending, fix_file

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
    path.write_text(text, encoding="utf-8")
    rules = ("unordered-nodes", "unknown-value-info-name", "duplicate-value-info", "outdated-ir-version")
    report = fix_file(str(path), Settings(select=rules), Mending(unsafe=unsafe))
    assert report.repair is not None
    return path.read_text(encoding="utf-8"), report.repair.not_made


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


@pytest.mark.parametrize(
    "text",
    [
        _model(USER, PRODUCER.rstrip("\n"), STALE.lstrip()),
        _model(PRODUCER, USER, "  value_info [ { name: 'gone' } ]\n"),
        _model(PRODUCER, USER, STALE).replace("# a model", "# ein schönes Modell"),
    ],
    ids=["two on a line", "brackets", "beyond ASCII"],
)
def test_other_texts_are_left_alone_with_a_sentence(text: str, tmp_path: Path):
    fixed, not_made = _fixed(text, tmp_path)
    assert fixed == text
    assert not_made
    assert [why for why in not_made if "the fix cannot be made: the text has" not in why] == []


def test_other_edits_are_refused(tmp_path: Path):
    text = _model(PRODUCER, USER).replace("ir_version: 10", "ir_version: 8")
    fixed, not_made = _fixed(text, tmp_path, unsafe=True)
    assert fixed == text
    assert not_made == (
        "outdated-ir-version: the fix cannot be made: in text form only elements of lists are deleted and moved",
    )


def test_json_is_refused(tmp_path: Path):
    text = '{"irVersion": "10", "opsetImport": [{"version": "21"}], "graph": {"valueInfo": [{"name": "gone"}]}}'
    fixed, not_made = _fixed(text, tmp_path, name="m.json")
    assert fixed == text
    assert "the file is JSON" in not_made[-1]
