# SPDX-License-Identifier: Apache-2.0
"""How the page for browsers is built, and the part of it that is Python, without a browser or a network."""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import onnx
import pytest
from support.project.checkout import ROOT

from onnx_lint import lint
from onnx_lint.reporters import Options, write_report
from tools.page import downloads
from tools.page.build import BUILT, build, numpy_wheel, policy, version_of, write_examples, write_licences
from tools.page.downloads import PYODIDE_FILES, BuildError, pyodide_archive, requirements, unpack_pyodide
from tools.page.site import check

SITE = ROOT / "tools" / "page" / "site"
REPORT = ROOT / "onnx_lint" / "reporters" / "page"
DEFAULTS = {"edition": "1.23", "target": "", "select": "", "pedantic": False, "unsafe": False}


def test_the_policy_of_the_page_allows_the_parts_of_the_report(tmp_path: Path):
    path = tmp_path / "report.html"
    with open(path, "w", encoding="utf-8") as stream:
        write_report("html", lint(b""), stream, Options())
    of_report = re.findall(r"'(sha256-[^']+)'", path.read_text(encoding="utf-8"))
    assert len(of_report) == 2
    assert set(of_report) == set(re.findall(r"'(sha256-[^']+)'", policy()))
    assert "unsafe" not in policy()


def test_the_wheels_are_those_of_all_dependencies_but_numpy():
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    listed = dict(re.findall(r"^([a-z-]+)==.*\\\n((?:    --hash=.*\n)+)", requirements(), re.MULTILINE))
    assert {re.match(r"[a-z-]+", each)[0] for each in wanted} - {"numpy"} <= set(listed)
    assert "numpy" not in requirements()
    assert all(hashes.count("sha256:") >= 1 for hashes in listed.values())


def test_an_archive_with_another_hash_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    archive = tmp_path / f"pyodide-{downloads.PYODIDE}.tgz"
    archive.write_bytes(b"another")
    with pytest.raises(BuildError, match="is not the archive of Pyodide"):
        pyodide_archive(tmp_path)
    archive.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match="npm, which downloads Pyodide, is not installed"):
        pyodide_archive(tmp_path)


def test_only_the_files_of_a_browser_are_unpacked(tmp_path: Path):
    archive = tmp_path / "pyodide.tgz"
    (tmp_path / "package").mkdir()
    with tarfile.open(archive, "w:gz") as members:
        for name in (*PYODIDE_FILES, "console.html"):
            (tmp_path / "package" / name).write_text(name, encoding="utf-8")
            members.add(tmp_path / "package" / name, f"package/{name}")
    unpack_pyodide(archive, tmp_path / "out")
    assert {path.name: path.read_text() for path in (tmp_path / "out").iterdir()} == {
        name: name for name in PYODIDE_FILES
    }


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path):
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(BuildError, match=BUILT):
        build(tmp_path, tmp_path, None)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_file_in_the_place_of_the_folder_is_left_alone(tmp_path: Path):
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(BuildError, match="is a file"):
        build(tmp_path / "mine.txt", tmp_path, None)
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_the_folder_of_the_parts_is_named_by_their_content(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.mjs").write_text("1", encoding="utf-8")
    first = version_of(tmp_path)
    (tmp_path / "a" / "one.mjs").write_text("2", encoding="utf-8")
    second = version_of(tmp_path)
    (tmp_path / "a" / "one.mjs").rename(tmp_path / "one.mjs")
    assert len({first, second, version_of(tmp_path)}) == 3


def test_numpy_is_the_wheel_that_pyodide_names(tmp_path: Path):
    lock: dict[str, Any] = {
        "packages": {"numpy": {"file_name": "numpy.whl", "sha256": hashlib.sha256(b"1").hexdigest()}}
    }
    with pytest.raises(BuildError, match=r"has no numpy\.whl"):
        numpy_wheel(tmp_path, lock)
    (tmp_path / "numpy.whl").write_bytes(b"2")
    with pytest.raises(BuildError, match="its SHA-256 differs"):
        numpy_wheel(tmp_path, lock)
    (tmp_path / "numpy.whl").write_bytes(b"1")
    assert numpy_wheel(tmp_path, lock) == tmp_path / "numpy.whl"


def test_each_wheel_has_its_licence_beside_the_page(tmp_path: Path):
    (tmp_path / "wheels").mkdir()
    wheel = tmp_path / "wheels" / "one-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as content:
        content.writestr("one/LICENSE", "of a part")
        content.writestr("one-1.dist-info/licenses/LICENSE.txt", "may be copied")
    write_licences(tmp_path / "licences", tmp_path / "wheels")
    assert (tmp_path / "licences" / "one" / "LICENSE.txt").read_text() == "may be copied"
    assert "Mozilla Public License" in (tmp_path / "licences" / "README.txt").read_text()
    with zipfile.ZipFile(tmp_path / "wheels" / "two-1-py3-none-any.whl", "w") as content:
        content.writestr("two/LICENSE", "of a part")
    with pytest.raises(BuildError, match=r"two-1-py3-none-any\.whl has no licence"):
        write_licences(tmp_path / "again", tmp_path / "wheels")


def test_the_examples_are_what_their_buttons_say(tmp_path: Path):
    examples = {each["title"]: each["files"] for each in write_examples(tmp_path / "examples")}
    reports = {title: lint(tmp_path / "examples" / files[0]) for title, files in examples.items()}
    assert len(reports["six faults"].diagnostics) == 6
    assert all(item.fix is not None and item.fix.is_safe for item in reports["faults to fix"].diagnostics)
    assert [item.rule for item in reports["data file too short"].diagnostics] == ["external-range-beyond-file"]
    assert reports["a model that conforms"].conforms
    assert reports["a model that conforms"].diagnostics == ()


# --- the files of the page


def test_the_modules_use_parts_that_the_page_has():
    index = (SITE / "index.html").read_text(encoding="utf-8")
    ids = set(re.findall(r'id="([^"{]+)"', index))
    scripts = [path.read_text(encoding="utf-8") for path in SITE.glob("*js")]
    used = {name for text in scripts for name in re.findall(r'(?:\bat|getElementById)\("([^"]+)"\)', text)}
    assert len(used) > 20
    assert used <= ids
    assert "http" not in re.sub(r"http://127\.0\.0\.1:8000/|http\.server|http://www\.w3\.org/\S+", "", "".join(scripts))


def test_the_colours_are_those_of_the_report():
    def colours(path: Path) -> list[tuple[str, str]]:
        return re.findall(r"--(back|text|faint|line|raised|link|error|warning|good): (#\w+);", path.read_text())

    assert len(colours(REPORT / "page.css")) == 18
    assert set(colours(SITE / "page.css")) == set(colours(REPORT / "page.css"))


# --- what runs in Pyodide


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the models, with the examples; the page has folders at fixed places instead."""
    write_examples(tmp_path / "models")
    monkeypatch.setattr(check, "MODELS", str(tmp_path / "models"))
    monkeypatch.setattr(check, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(check, "FIXED", tmp_path / "fixed")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "models"


def asked(function: str, *paths: str, **settings: object) -> dict[str, Any]:
    counts: list[int] = []
    request = json.dumps({"paths": paths, "settings": {**DEFAULTS, **settings}})
    answer: dict[str, Any] = json.loads(getattr(check, function)(request, counts.append))
    return {**answer, "counts": counts}


def test_a_check_returns_the_reports_and_the_verdict(models: Path):
    answer = asked("check", "clean.onnx", "with_weights.onnx", "weights.bin")
    assert [each["name"] for each in answer["files"]] == sorted(check.FORMATS)
    assert answer["summary"]["verdict"] == "2 models: 1 conforms to ONNX 1.23, 1 does not (1 error)"
    assert (answer["code"], answer["said"], answer["counts"]) == (1, "", [1, 2])
    assert Path(answer["files"][2]["at"]).read_text(encoding="utf-8").startswith("## onnx-lint: 2 models")
    assert (answer["safe_fixes"], answer["unsafe_fixes"], answer["lacks_data"]) == (0, 0, False)
    (models / "weights.bin").unlink()
    assert asked("check", "with_weights.onnx")["lacks_data"]


def test_settings_of_a_check(models: Path):
    answer = asked("check", "classifier.onnx", edition="1.16", target="ir=9, onnxruntime=1.32", select="cycle,opset")
    report = json.loads(Path(answer["files"][1]["at"]).read_text(encoding="utf-8"))
    assert report["tool"]["specification"]["edition"] == "1.16"
    found = {item["rule"] for item in report["files"][0]["diagnostics"]}
    assert {"cycle", "duplicate-opset-import"} <= found
    assert "undefined-name" not in found
    assert [each["program"] for each in report["files"][0]["targets"]] == ["onnxruntime 1.32.0", "IR version 9"]


def test_a_wrong_setting_is_answered_without_lines_on_the_command(models: Path):
    answer = asked("check", "clean.onnx", select="cylce")
    assert (answer["code"], answer["files"]) == (2, [])
    assert answer["said"].startswith("Error: ")
    assert "did you mean 'cycle'?" in answer["said"]


def test_the_verdict_has_no_options_of_the_command(models: Path):
    verdict = asked("check", "exported.onnx")["summary"]["verdict"]
    assert re.search(r"\d fixable\b", verdict)
    assert "--" not in verdict


def test_only_files_that_a_fix_changes_are_saved(models: Path):
    model = onnx.load(models / "with_weights.onnx", load_external_data=False)
    model.opset_import.append(model.opset_import[0])
    (models / "weights.bin").write_bytes(bytes(400))
    (models / "with_weights.onnx").write_bytes(model.SerializeToString())
    answer = asked("fix", "with_weights.onnx", "clean.onnx", "weights.bin")
    assert [each["name"] for each in answer["files"]] == ["with_weights.onnx"]


def test_a_fix_of_a_model_in_a_folder(models: Path):
    for name in ("one", "two"):
        (models / name).mkdir()
        (models / name / "exported.onnx").write_bytes((models / "exported.onnx").read_bytes())
        (models / name / "clean.onnx").write_bytes((models / "clean.onnx").read_bytes())
    answer = asked("fix", *(f"{name}/{file}.onnx" for name in ("one", "two") for file in ("clean", "exported")))
    assert [each["name"] for each in answer["files"]] == ["one/exported.onnx", "two/exported.onnx"]


def test_a_fix_returns_the_difference_and_the_copies(models: Path):
    before = (models / "exported.onnx").read_bytes()
    answer = asked("fix", "exported.onnx")
    assert '-    1 | opset_import "" : 21' in answer["difference"]
    (copy,) = answer["files"]
    assert copy["name"] == "exported.onnx"
    assert lint(copy["at"]).diagnostics == ()
    assert (models / "exported.onnx").read_bytes() == before


def test_files_that_are_no_models_are_data_unless_nothing_else_is_there():
    assert check.inputs_among(["b.ONNX", "weights.bin", "a/c.txtpb", "a/b/d.onnx"]) == ["a", "b.ONNX"]
    assert check.inputs_among(["model.pb", "README"]) == ["README", "model.pb"]
    assert check.inputs_among(["model.pb", "a/README"]) == ["a"]


def test_a_chosen_file_that_is_neither_checked_nor_data_is_named(models: Path):
    (models / "model.pb").write_bytes(b"broken")
    assert asked("check", "with_weights.onnx", "weights.bin", "model.pb")["left_out"] == ["model.pb"]
    assert asked("check", "model.pb", "weights.bin")["left_out"] == []
    assert asked("check", "model.pb", select="cylce")["left_out"] == []


def test_a_folder_is_searched_as_by_the_command(models: Path):
    (models / "zoo" / ".hidden").mkdir(parents=True)
    of_caffe = 'name: "net"\nlayer { name: "data" type: "Input" }'
    (models / "zoo" / "deploy.prototxt").write_text(of_caffe, encoding="utf-8")
    (models / "zoo" / ".hidden" / "broken.onnx").write_bytes(b"broken")
    paths = ["zoo/deploy.prototxt", "zoo/.hidden/broken.onnx"]
    answer = asked("check", *paths)
    assert answer["code"] == 2
    assert answer["said"].startswith("Error: zoo: no model in this directory")
    (models / "clean.onnx").rename(models / "zoo" / "clean.onnx")
    answer = asked("check", *paths, "zoo/clean.onnx")
    assert answer["summary"]["verdict"] == "1 model conforms to ONNX 1.23"
    assert answer["left_out"] == []


def test_a_file_named_as_standard_input_is_a_file(models: Path):
    (models / "clean.onnx").rename(models / "-")
    assert asked("check", "-")["summary"]["verdict"] == "1 model conforms to ONNX 1.23"


def test_preparing_imports_what_a_check_needs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "upb")
    check.prepare()
