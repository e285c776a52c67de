# SPDX-License-Identifier: Apache-2.0
"""The table of `tools.known_shapes`: values counted as known, as known only elsewhere, and as contradictions."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import onnx.parser
import pytest

from tools import known_shapes
from tools.known_shapes import Known, compare, differences, of_onnx, of_onnx_lint, stripped

COMPUTED = """
<ir_version: 10, opset_import: ["" : 21]>
g (float[2, 3] x) => (float[7] y) <int64[1] open = {-1}, float[9] r> {
  s = Shape (x)
  r = Reshape (x, s)
  t = Constant <value_ints = [3, 2]> ()
  y = Reshape (r, t)
}
"""


def _model(text: str = COMPUTED) -> onnx.ModelProto:
    return onnx.parser.parse_model(text)


def test_what_is_declared_of_values_that_nodes_make_does_not_count() -> None:
    model = stripped(_model())
    assert [value.name for value in model.graph.value_info] == []
    assert not model.graph.output[0].type.tensor_type.HasField("shape")
    assert model.graph.input[0].type.tensor_type.HasField("shape")


def test_what_two_programs_know() -> None:
    model = stripped(_model())
    assert of_onnx_lint(model) == {
        "x": Known((2, 3)),
        "open": Known((1,), (-1,)),
        "s": Known((2,), (2, 3)),
        "r": Known((2, 3)),
        "t": Known((2,), (3, 2)),
        "y": Known((3, 2)),
    }
    theirs = of_onnx(model)
    assert {name: theirs[name].shape for name in ("s", "r", "t", "y")} == {
        "s": (2,), "r": (2, 3), "t": (2,), "y": (3, 2),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("mine", "theirs", "kind"),
    [
        (Known((2, None)), Known((2, 3)), "behind"),
        (Known(None), Known((None,)), "behind"),
        (Known((2, 3)), Known((2, 4)), "contradiction"),
        (Known((2,)), Known((2, 3)), "contradiction"),
        (Known((2, 3)), Known((2, None)), None),
        (Known((2, 3)), Known(None), None),
        (Known((2,), None), Known((2,), (1, None)), "behind"),
        (Known((2,), None), Known((2,), (None, None)), None),
        (Known((2,), (1, 2)), Known((2,), (1, 3)), "contradiction"),
    ],
)
def test_a_difference_has_its_kind(mine: Known, theirs: Known, kind: str | None) -> None:
    found = list(differences("m", {"onnx-lint": {"v": mine}, "other": {"v": theirs}}, {"v": "Op"}))
    assert [(each.kind, each.program, each.value, each.operator) for each in found] == (
        [(kind, "other", "v", "Op")] if kind else []
    )


def test_the_table_counts_ranks_sizes_and_elements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(model: onnx.ModelProto) -> known_shapes.Facts:
        raise ValueError

    programs = {"onnx-lint": of_onnx_lint, "onnx": of_onnx, "never": fails}
    monkeypatch.setattr(known_shapes, "_programs", lambda: programs)
    (tmp_path / "models").mkdir()
    onnx.save(_model(), tmp_path / "models" / "m.onnx")
    lines, found = compare([tmp_path / "models"])
    assert lines[0] == "| models | values | onnx-lint | onnx | never |"
    assert lines[2:] == [
        "| models (1) | 4 | 4 / 6 / 4 | 4 / 6 / 0 | 0 / 0 / 0 (fails 1) |",
        "| all | 4 | 4 / 6 / 4 | 4 / 6 / 0 | 0 / 0 / 0 (fails 1) |",
    ]
    assert found == []


def test_differences_are_written_and_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = {"onnx-lint": of_onnx_lint, "other": lambda _: {"y": Known((1,))}}
    monkeypatch.setattr(known_shapes, "_programs", lambda: programs)
    onnx.save(_model(), tmp_path / "m.onnx")
    assert known_shapes.main([str(tmp_path / "m.onnx"), "--details", str(tmp_path / "d.jsonl")]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "contradiction: other, Reshape: 1 values"
    [record] = map(json.loads, (tmp_path / "d.jsonl").read_text().splitlines())
    assert (record["value"], record["what"]) == ("y", "shape: onnx-lint (3, 2), other (1,)")
