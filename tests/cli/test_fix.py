# SPDX-License-Identifier: Apache-2.0
"""`onnx-lint fix` and `onnx-lint --fix`: exit codes, reports, the path of the result, and unchanged files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import onnx
import pytest
from google.protobuf import text_format
from support.project.checkout import ROOT

from onnx_lint import fix, schema
from onnx_lint.cli.application import run
from onnx_lint.engine.plugins import use_files
from onnx_lint.fixing import files

Output = pytest.CaptureFixture[str]

TYPE = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } }"
USER = 'node { name: "s" op_type: "Abs" input: "a" output: "y" }'
PRODUCER = 'node { name: "r" op_type: "Relu" input: "x" output: "a" }'


def model(nodes: str) -> bytes:
    text = f"""ir_version: 10 producer_name: "p" producer_version: "1" opset_import {{ domain: "" version: 21 }}
    graph {{ name: "g" {nodes} input {{ name: "x" {TYPE} }} output {{ name: "y" {TYPE} }} }}"""
    proto = text_format.Parse(text, schema.message("ModelProto")(), descriptor_pool=schema.pool())
    data: bytes = proto.SerializeToString(deterministic=True)
    return data


UNORDERED, ORDERED = model(USER + PRODUCER), model(PRODUCER + USER)
FAULTY = UNORDERED.replace(b"Abs", b"Ab?")
"""A fault that can be fixed, and one that cannot."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.onnx").write_bytes(UNORDERED)
    (tmp_path / "b.onnx").write_bytes(FAULTY)
    (tmp_path / "c.onnx").write_bytes(ORDERED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def content(name: str) -> bytes:
    return Path(name).read_bytes()


@pytest.mark.parametrize("command", [["fix"], ["--fix"], ["check", "--fix"]], ids=" ".join)
def test_a_file_is_fixed_in_place(capsys: Output, command: list[str]):
    assert run([*command, "a.onnx"]) == 0
    assert content("a.onnx") == ORDERED
    out = capsys.readouterr().out
    assert "a.onnx: conforms" in out
    assert "= fixed: 1 finding: 1 of unordered-nodes" in out
    assert run([*command, "a.onnx"]) == 0
    assert "fixed" not in capsys.readouterr().out
    assert sorted(os.listdir()) == ["a.onnx", "b.onnx", "c.onnx"]


def test_what_cannot_be_fixed_is_reported_and_fails_the_run(capsys: Output):
    assert run(["fix", "-f", "json", "."]) == 1
    report = json.loads(capsys.readouterr().out)
    jsonschema.validate(report, json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8")))
    files = {Path(file["path"]).name: file for file in report["files"]}
    fixed = [{"rule": "unordered-nodes", "count": 1}]
    assert files["b.onnx"]["repair"] == {"fixed": fixed, "revealed": [], "not_made": [], "problem": None}
    assert [item["rule"] for item in files["b.onnx"]["diagnostics"]] == ["unknown-operator"]
    assert content("b.onnx") == ORDERED.replace(b"Abs", b"Ab?")
    assert (content("a.onnx"), content("c.onnx")) == (ORDERED, ORDERED)


def test_the_report_says_what_can_be_fixed(capsys: Output):
    assert run(["a.onnx"]) == 1
    out = capsys.readouterr().out
    assert "   = fix: move 1 node of main graph 'g' into topological order (onnx-lint fix)\n" in out
    assert "a.onnx: 1 error; 1 fixable with --fix; " in out
    assert content("a.onnx") == UNORDERED


@pytest.mark.parametrize("command", [["fix", "--diff"], ["--diff"], ["--fix", "--diff"]], ids=" ".join)
def test_a_difference_is_shown_and_nothing_changes(capsys: Output, command: list[str]):
    assert run([*command, "a.onnx", "c.onnx"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "--- a.onnx",
        "+++ a.onnx",
        "@@ graph.node[0] @@",
        "+    0 | [r] a = Relu (x)",
        "     0 | [s] y = Abs (a)",
        "-    1 | [r] a = Relu (x)",
    ]
    assert content("a.onnx") == UNORDERED
    assert run([*command, "c.onnx"]) == 0
    assert capsys.readouterr().out == ""
    assert run([*command, "missing.onnx"]) == 2


def test_a_difference_that_is_empty_says_so(capsys: Output):
    Path("d.onnx").write_bytes(ORDERED.replace(b"Abs", b"Ab?"))
    assert run(["fix", "--diff", "c.onnx", "d.onnx"]) == 0
    assert capsys.readouterr() == ("", "nothing to fix\n")
    assert run(["fix", "--diff", "-q", "d.onnx"]) == 0
    assert capsys.readouterr() == ("", "")
    Path("e.onnx").write_bytes(ORDERED.replace(b"\x1a\x01s", b"\x1a\x01r"))
    assert run(["fix", "--diff", "e.onnx"]) == 0
    unsafe = "1 finding has an unsafe fix (--unsafe-fixes)\n"
    assert capsys.readouterr() == ("", f"nothing to fix; {unsafe}")
    assert run(["fix", "--diff", "--unsafe-fixes", "e.onnx"]) == 1
    assert "[r_1] y = Abs (a)" in capsys.readouterr().out
    assert run(["fix", "--diff", "a.onnx", "e.onnx"]) == 1
    assert capsys.readouterr().err == unsafe.replace("1 finding", "1 more finding")


def test_only_selected_rules_fix(capsys: Output):
    assert run(["fix", "--ignore", "unordered-nodes", "a.onnx"]) == 0
    assert run(["fix", "--select", "duplicate-value-info", "a.onnx"]) == 0
    assert content("a.onnx") == UNORDERED
    assert "fixed" not in capsys.readouterr().out


def test_the_results_go_to_another_folder(capsys: Output):
    assert run(["fix", "a.onnx", "c.onnx", "--output", "new/deep"]) == 0
    assert content("a.onnx") == UNORDERED
    assert (content("new/deep/a.onnx"), content("new/deep/c.onnx")) == (ORDERED, ORDERED)
    assert run(["fix", "a.onnx", "--output", "new/deep"]) == 2
    assert "already exists" in capsys.readouterr().err
    assert run(["fix", "a.onnx", "new/deep/a.onnx", "--output", "other"]) == 2
    assert "two files would be written" in capsys.readouterr().err


def test_files_of_a_folder_keep_their_paths_below_it(capsys: Output):
    for folder in ("models/one", "models/two"):
        os.makedirs(folder)
        os.rename("a.onnx", f"{folder}/a.onnx")
        shutil.copy(f"{folder}/a.onnx", "a.onnx")
    for path in ("models", "./models/", os.path.abspath("models")):
        assert run(["fix", path, "a.onnx", "--output", f"out{len(path)}"]) == 0
        names = ("one/a.onnx", "two/a.onnx", "a.onnx")
        assert [content(f"out{len(path)}/{name}") for name in names] == [ORDERED] * 3
    assert content("models/one/a.onnx") == UNORDERED
    assert run(["fix", "models", "models/one", "--output", "both"]) == 0
    assert run(["fix", "models", "models/../models/one/a.onnx", "--output", "again"]) == 0
    assert run(["fix", "models", "models/../c.onnx", "--output", "deep/out"]) == 0
    assert sorted(os.listdir("deep")) == ["out"]
    assert content("deep/out/c.onnx") == ORDERED
    os.makedirs("other/one")
    os.rename("a.onnx", "other/one/a.onnx")
    assert run(["fix", "models", "other", "--output", "none"]) == 2
    assert "two files would be written to 'none/one/a.onnx'" in capsys.readouterr().err.replace("\\", "/")
    assert not os.path.exists("none")


def test_a_link_in_the_folder_of_the_results_is_not_followed_out_of_it(folder: Path, capsys: Output) -> None:
    """A checkout can bring it."""
    for name in ("models/sub", "out", "elsewhere"):
        (folder / name).mkdir(parents=True)
    (folder / "models/sub/a.onnx").write_bytes(UNORDERED)
    (folder / "out/sub").symlink_to("../elsewhere")
    assert run(["fix", "models", "--output", "out"]) == 2
    assert "'out/sub/a.onnx' is outside of 'out', because of a link" in capsys.readouterr().err
    assert not list((folder / "elsewhere").iterdir())


def test_a_link_is_left_as_it_is(capsys: Output):
    os.symlink("a.onnx", "link.onnx")
    assert run(["fix", "link.onnx"]) == 2
    assert "link.onnx was not changed: it is a symbolic link" in capsys.readouterr().err
    assert os.path.islink("link.onnx")
    assert content("a.onnx") == UNORDERED
    os.unlink("link.onnx")
    os.symlink("c.onnx", "link.onnx")
    assert run(["fix", "link.onnx"]) == 0


def test_a_link_is_followed_on_demand():
    os.makedirs("store")
    os.rename("a.onnx", "store/a.onnx")
    os.symlink("store/a.onnx", "first.onnx")
    os.symlink("first.onnx", "link.onnx")
    assert run(["fix", "--follow-links", "link.onnx"]) == 0
    assert content("store/a.onnx") == ORDERED
    assert (os.readlink("link.onnx"), os.readlink("first.onnx")) == ("first.onnx", "store/a.onnx")
    assert os.listdir("store") == ["a.onnx"]
    Path("store/a.onnx").write_bytes(UNORDERED)
    assert fix("link.onnx").files[0].repair.problem is not None
    assert fix("link.onnx", {"follow_links": True}).passes
    assert content("store/a.onnx") == ORDERED


def test_a_store_is_not_changed(capsys: Output):
    assert run(["fix", "s3://bucket/model.onnx"]) == 2
    assert capsys.readouterr().err.strip() != ""


def test_texts_are_left_as_they_are(capsys: Output):
    text = text_format.MessageToString(schema.message("ModelProto").FromString(UNORDERED))
    Path("t.textproto").write_text(text)
    assert run(["fix", "t.textproto"]) == 1
    assert "changes binary files only" in capsys.readouterr().out
    assert Path("t.textproto").read_text() == text
    assert run(["t.textproto"]) == 1
    written = capsys.readouterr().out
    assert "unordered-nodes" in written
    assert "fixable" not in written
    assert "(by hand: onnx-lint fix changes binary files only)" in written
    Path("t.onnx").write_bytes(UNORDERED)
    assert run(["t.onnx", "t.textproto"]) == 1
    assert "1 fixable with --fix" in capsys.readouterr().out


@pytest.mark.parametrize("data", [UNORDERED, ORDERED], ids=["with a fault", "without"])
def test_standard_input_goes_to_standard_output(data: bytes):
    command = [sys.executable, "-m", "onnx_lint", "fix", "-"]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, ORDERED)
    assert b"conforms" in done.stderr
    assert (b"fixed" in done.stderr) == (data == UNORDERED)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no such device")
@pytest.mark.parametrize(
    ("output", "reason"), [("/dev/full", "No space left on device"), ("&-", "it is closed")], ids=["full", "closed"]
)
def test_a_standard_output_that_does_not_take_the_model_is_named(output: str, reason: str):
    command = f'"{sys.executable}" -m onnx_lint fix -q -f concise - < a.onnx >{output}'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"Error: the fixed model was not written in full to standard output: {reason}\n" in done.stderr
    assert "unordered-nodes" in done.stderr


def test_a_file_that_cannot_be_replaced_is_reported(capsys: Output, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", fail)
    assert run(["fix", "a.onnx", "-q", "-f", "concise"]) == 2
    captured = capsys.readouterr()
    assert captured.err == "Error: a.onnx was not changed: Permission denied\n"
    assert "unordered-nodes" in captured.out
    assert content("a.onnx") == UNORDERED
    assert sorted(os.listdir()) == ["a.onnx", "b.onnx", "c.onnx"]


def test_a_file_that_is_no_model_is_left_as_it_is():
    Path("empty.onnx").write_bytes(b"")
    assert run(["fix", "empty.onnx"]) == 1
    assert content("empty.onnx") == b""


def test_several_processes_fix(capsys: Output):
    assert run(["fix", "-j", "2", "a.onnx", "b.onnx", "c.onnx"]) == 1
    assert content("a.onnx") == ORDERED
    assert "2 findings fixed" in capsys.readouterr().out


def test_the_library_fixes():
    report = fix("a.onnx")
    assert report.passes
    assert report.files[0].repair is not None
    assert report.files[0].repair.fixed == (("unordered-nodes", 1),)
    assert content("a.onnx") == ORDERED
    with pytest.raises(FileNotFoundError):
        fix("missing.onnx")


def test_the_library_takes_the_model_under_its_former_name():
    assert fix(path=UNORDERED).fixed_model == fix(UNORDERED).fixed_model is not None
    with pytest.raises(TypeError, match="fix takes one model"):
        fix("a.onnx", path=UNORDERED)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, onnx.load_model_from_string])
def test_the_library_fixes_a_model_in_memory(kind: Any, folder: Path):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    report = fix(kind(UNORDERED))
    assert report.passes
    assert report.files[0].repair is not None
    assert report.files[0].repair.fixed == (("unordered-nodes", 1),)
    assert report.fixed_model == ORDERED
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_library_does_not_change_the_message_and_keeps_what_needs_no_fix():
    proto = onnx.load_model_from_string(FAULTY)
    report = fix(proto)
    assert not report.passes
    assert report.fixed_model == ORDERED.replace(b"Abs", b"Ab?")
    assert proto.SerializeToString(deterministic=True) == FAULTY
    assert fix(ORDERED).fixed_model == ORDERED
    assert fix(b"").fixed_model == b""
    assert fix(UNORDERED, ignore="unordered-nodes").fixed_model == UNORDERED


def test_the_library_fixes_a_message_that_is_no_model():
    graph = onnx.load_model_from_string(UNORDERED).graph
    report = fix(graph)
    assert report.files[0].kind == "GraphProto"
    assert report.fixed_model is not None
    assert onnx.GraphProto.FromString(report.fixed_model) == onnx.load_model_from_string(ORDERED).graph


def test_the_library_writes_to_another_folder():
    assert fix("a.onnx", folder="out").fixed_model is None
    assert content("out/a.onnx") == ORDERED


def test_processes_report_a_fix_that_they_do_not_make(capsys: Output):
    """The fix adds an import: a message, which one process cannot send to another."""
    proto = schema.message("ModelProto").FromString(ORDERED)
    proto.opset_import[0].domain, proto.opset_import[0].version = "ai.onnx.ml", 3
    del proto.graph.node[1]
    proto.graph.node[0].op_type, proto.graph.node[0].domain, proto.graph.node[0].output[0] = "Scaler", "ai.onnx.ml", "y"
    for name in ("a.onnx", "b.onnx"):
        Path(name).write_bytes(proto.SerializeToString())
    reports = []
    for jobs in ("1", "2"):
        assert run(["fix", "--jobs", jobs, "-f", "json", "a.onnx", "b.onnx"]) == 0
        reports.append(json.loads(capsys.readouterr().out)["files"])
    assert reports[0] == reports[1]
    proposed = [[each["fix"]["message"] for each in file["diagnostics"] if "fix" in each] for file in reports[1]]
    assert proposed == [["import 'ai.onnx' 22"]] * 2, "the newest version of IR version 10"


def test_the_library_refuses_what_it_cannot_fix():
    with pytest.raises(TypeError, match=r"accepts a path, bytes, .*ModelProto"):
        fix(None)
    with pytest.raises(ValueError, match="folder is for a model that is given as a path"):
        fix(UNORDERED, folder="out")


def test_a_crash_while_a_model_in_memory_is_fixed_leaves_no_result(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "fix_in_rounds", lambda *_, **__: 1 // 0)
    report = fix(UNORDERED)
    assert report.fixed_model is None
    assert not report.passes


def test_a_read_only_file_is_left_as_it_is_by_root_too(capsys: Output):
    Path("a.onnx").chmod(0o444)
    assert run(["fix", "-q", "-f", "concise", "a.onnx"]) == 2
    assert capsys.readouterr().err == "Error: a.onnx was not changed: it is read-only\n"
    assert content("a.onnx") == UNORDERED


@pytest.mark.parametrize("work", ["fix_in_rounds", "_write_checked"])
def test_a_crash_while_a_file_is_fixed_costs_no_finding(work: str, capsys: Output, monkeypatch: pytest.MonkeyPatch):
    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(files, work, crash)
    assert run(["fix", "-f", "concise", "a.onnx"]) == 3
    captured = capsys.readouterr()
    assert "error[unordered-nodes]" in captured.out
    assert "onnx-lint crashed on a.onnx while fixing the file: RuntimeError: a bug" in captured.err
    assert content("a.onnx") == UNORDERED
    assert sorted(os.listdir()) == ["a.onnx", "b.onnx", "c.onnx"]


def test_a_folder_that_cannot_be_read_has_the_new_file(monkeypatch: pytest.MonkeyPatch):
    """Its new name cannot be synced then; the file is in place, and the report must not say that it was left."""
    real = os.open

    def refuse(path: str, flags: int, *rest: int, **named: int) -> int:
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", refuse)
    assert run(["fix", "a.onnx"]) == 0
    assert content("a.onnx") == ORDERED


HOUSE_RULE = '''
from onnx_lint.model import ROOT
from onnx_lint.rule import Finding, own_clause, rule

LICENCE = own_clause("ACME-1", "A model states its licence.")

@rule(clause=LICENCE, since="1.0")
def missing_licence(model):
    """The model does not state its licence."""
    yield Finding(ROOT, "the metadata has no licence")
'''


def test_a_policy_and_a_plugin_judge_what_was_fixed(folder: Path, capsys: Output) -> None:
    """Neither has fixes, and neither keeps the fixes of others from being made."""
    (folder / "house.py").write_text(HOUSE_RULE)
    (folder / "onnx-lint.toml").write_text('[policy.operators]\nforbid = ["Relu"]\n')
    try:
        assert run(["fix", "a.onnx", "--plugin", "house.py", "-f", "json"]) == 1
    finally:
        use_files(())
    assert content("a.onnx") == ORDERED
    [file] = json.loads(capsys.readouterr().out)["files"]
    assert {each["rule"] for each in file["diagnostics"]} == {"disallowed-operator", "missing-licence"}


FIXING_RULE = '''
from onnx_lint.model import ROOT, Assign, Fix
from onnx_lint.rule import Finding, own_clause, rule

PRODUCER = own_clause("ACME-2", "A model names its producer.")

@rule(clause=PRODUCER, since="1.0")
def foreign_producer(model):
    """The producer of the model is not us."""
    if model.proto.producer_name != "us":
        fix = Fix("name the producer", (Assign(ROOT.at("producer_name"), "us"),), is_safe=False)
        yield Finding(ROOT.at("producer_name"), "the producer is not us", fix=fix)
'''


def test_the_fix_of_a_plugin_is_made_beside_the_others(folder: Path, capsys: Output) -> None:
    (folder / "house.py").write_text(FIXING_RULE)
    named = ORDERED.replace(b"\x12\x01p", b"\x12\x02us")
    in_memory = fix(UNORDERED, {"plugins": folder / "house.py"}, unsafe=True)
    try:
        assert run(["fix", "a.onnx", "--plugin", "house.py"]) == 1
        assert content("a.onnx") == ORDERED
        assert "= fix: name the producer (onnx-lint fix --unsafe-fixes)" in capsys.readouterr().out
        assert run(["fix", "a.onnx", "--plugin", "house.py", "--unsafe-fixes", "--diff"]) == 1
        assert content("a.onnx") == ORDERED
        assert run(["fix", "a.onnx", "--plugin", "house.py", "--unsafe-fixes", "-f", "json"]) == 0
    finally:
        use_files(())
    assert content("a.onnx") == in_memory.fixed_model == named
    assert onnx.load_model_from_string(named).producer_name == "us"
    out = capsys.readouterr().out
    [file] = json.loads(out[out.index("{") :])["files"]
    assert (file["diagnostics"], file["repair"]["fixed"]) == ([], [{"rule": "foreign-producer", "count": 1}])


def test_the_library_takes_the_operator_sets_and_the_path_of_a_part() -> None:
    graph = onnx.load_model_from_string(UNORDERED).graph
    graph.node[0].op_type = "Gelu"
    reports = {version: fix(graph, {"opset_imports": {"": version}}, filename="parts/graph.pb") for version in (19, 20)}
    assert {version: report.conforms for version, report in reports.items()} == {19: False, 20: True}
    assert {report.files[0].path for report in reports.values()} == {"parts/graph.pb"}
    fixed = [onnx.GraphProto.FromString(report.fixed_model or b"") for report in reports.values()]
    assert [[node.op_type for node in each.node] for each in fixed] == [["Relu", "Gelu"]] * 2


def test_a_fault_of_an_unordered_node_is_known_before_the_fix(capsys: Output):
    weight = 'initializer { name: "w" data_type: 1 dims: 3 float_data: [1, 2, 3] }'
    user = 'node { name: "s" op_type: "Add" input: "a" input: "w" output: "y" }'
    Path("hidden.onnx").write_bytes(model(user + PRODUCER + weight))
    assert run(["fix", "hidden.onnx"]) == 1
    assert content("hidden.onnx") == model(PRODUCER + user + weight)
    out = capsys.readouterr().out
    assert "cannot be broadcast" in out
    assert "   = fixed: 1 finding: 1 of unordered-nodes\n" in out
    assert "revealed" not in out
