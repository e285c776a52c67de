# SPDX-License-Identifier: Apache-2.0
"""The arguments of the library, and that its verdicts are those of the command line."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, get_args, get_type_hints

import onnx
import onnx.external_data_helper
import onnx.parser
import pytest
from google.protobuf import text_format
from support.models.clean_model import CLEAN
from support.project.each_case import each_case

from onnx_lint import Report, Settings, assert_conforms, fix, lint
from onnx_lint.cli.application import run
from onnx_lint.configuration.settings import GATES, LEVELS
from onnx_lint.input.source import BytesSource
from onnx_lint.spec.standard import EDITIONS

UNDEFINED = CLEAN.replace('input: "x" output', 'input: "z" output')
UNORDERED = onnx.parser.parse_model(
    '<ir_version: 10, producer_name: "p", producer_version: "1", opset_import: ["": 21]> '
    "g (float[2] x) => (float[2] y) { y = Abs(a) a = Relu(x) }"
).SerializeToString()
NAMELESS = CLEAN.replace('producer_name: "a test"\n', "")


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.textproto"
    path.write_text(UNDEFINED)
    return path


def _rules(report: Report) -> list[str]:
    return [found.rule for found in report.diagnostics]


def _severities(report: Report) -> dict[str, str]:
    return {found.rule: found.severity.label for found in report.diagnostics}


class TestModels:
    def test_a_path_that_leads_to_no_file_raises(self, tmp_path: Path):
        with pytest.raises(FileNotFoundError) as caught:
            lint(tmp_path / "missing.onnx")
        assert caught.value.filename == tmp_path / "missing.onnx" or "missing.onnx" in str(caught.value)
        with pytest.raises(IsADirectoryError):
            lint(tmp_path)

    def test_what_cannot_be_opened_raises_an_os_error(self, monkeypatch: pytest.MonkeyPatch):
        with pytest.raises(OSError, match="null byte"):
            lint("a\0b.onnx")
        monkeypatch.setattr("sys.stdin", None)
        with pytest.raises(OSError, match=r"^standard input is closed$"):
            lint("-")

    @pytest.mark.parametrize("odd", [None, 3, ["model.onnx"], object(), b"a path".__iter__(), onnx.ModelProto])
    def test_what_is_no_model_raises_and_says_what_is_taken(self, odd: Any):
        with pytest.raises(TypeError, match=r"a path, bytes, a buffer, .*ModelProto"):
            lint(odd)

    @pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
    def test_bytes_in_any_container(self, kind: Any):
        assert _rules(lint(kind(UNDEFINED.encode()))) == ["undefined-name"]

    def test_the_name_of_a_model_in_memory(self, tmp_path: Path):
        data = onnx.parser.parse_model(
            '<ir_version: 10, opset_import: ["": 21], producer_name: "a test">'
            'g () => (float[2] w) <float[2] w = ["location": "weights.bin"]> {}'
        ).SerializeToString()
        named = lint(data, filename=tmp_path / "model.onnx")
        assert named.files[0].path == str(tmp_path / "model.onnx")
        assert "missing-external-file" in _rules(named)  # it was looked for beside the name
        assert "missing-external-file" not in _rules(lint(data))


class TestReports:
    @pytest.mark.parametrize("name", ["-", "https://h/m.onnx"])
    def test_the_name_of_a_model_in_memory_is_no_place_to_write(self, name: str, capfdbinary: Any):
        report = fix(UNORDERED, filename=name)
        assert report.files[0].repair is not None
        assert (report.files[0].repair.fixed, report.files[0].repair.problem) == ((("unordered-nodes", 1),), None)
        assert report.fixed_model == fix(UNORDERED).fixed_model != UNORDERED
        assert capfdbinary.readouterr().out == b""

    def test_the_copy_of_a_remote_model_has_no_secret_in_its_name(self, tmp_path: Path, monkeypatch: Any):
        monkeypatch.setattr("onnx_lint.library.opened", lambda *_: BytesSource(UNORDERED))
        report = fix("https://h/m.onnx?sig=SECRET", folder=tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]
        assert report.files[0].repair is not None
        assert report.files[0].repair.written == ((str(tmp_path / "m.onnx"), len(UNORDERED)),)

    @pytest.mark.parametrize("odd", [b"m.onnx", 3])
    def test_a_path_that_is_no_text_is_named(self, odd: Any):
        with pytest.raises(TypeError, match=r"^filename takes a path, not "):
            lint(NAMELESS.encode(), filename=odd)
        with pytest.raises(TypeError, match=r"^folder takes a path, not "):
            fix("m.onnx", folder=odd)

    def test_a_report_as_text(self, broken: Path):
        lines = str(lint(broken)).splitlines()
        assert lines[0].startswith("error[undefined-name]: ")
        assert lines[-1].startswith(f"{broken}: 1 error; ")

    def test_errors_and_those_of_a_rule(self):
        report = lint(UNDEFINED.replace("producer_name:", 'domain: "plain" producer_name:').encode())
        assert sorted(_rules(report)) == ["undefined-name", "unqualified-model-domain"]
        assert [found.rule for found in report.errors] == ["undefined-name"]
        assert [found.rule for found in report.of_rule("unqualified-model-domain")] == ["unqualified-model-domain"]
        assert report.of_rule("cycle") == ()
        with pytest.raises(ValueError, match="did you mean 'undefined-name'"):
            report.of_rule("undefined-nam")


class TestJudgement:
    def test_severities(self):
        report = lint(UNDEFINED.encode(), {"severity": {"undefined-name": "warning"}})
        assert [found.severity.label for found in report.diagnostics] == ["warning"]
        assert (report.passes, report.conforms) == (True, False)
        with pytest.raises(ValueError, match="unknown severity 'fatal'"):
            lint(CLEAN.encode(), {"severity": {"undefined-name": "fatal"}})

    def test_a_baseline(self, broken: Path, tmp_path: Path):
        known = tmp_path / "known.json"
        assert run([str(broken), "--write-baseline", str(known)]) == 0
        report = lint(broken, baseline=known)
        assert (report.diagnostics, [found.rule for found in report.suppressed]) == ((), ["undefined-name"])
        assert report.passes
        assert not report.conforms
        known.write_text("[]")
        with pytest.raises(ValueError, match="is not a baseline"):
            lint(broken, baseline=known)

    def test_a_configuration_is_read_when_asked_for(self, broken: Path, tmp_path: Path):
        file = tmp_path / "onnx-lint.toml"
        file.write_text('ignore = ["undefined-name"]\n')
        assert _rules(lint(broken)) == ["undefined-name"]
        assert _rules(lint(broken, config=True)) == []
        assert _rules(lint(UNDEFINED.encode(), config=file)) == []
        assert _rules(lint(UNDEFINED.encode(), config=True, filename=broken)) == []
        file.write_text('ignore = ["undefined-nam"]\n')
        with pytest.raises(ValueError, match="undefined-nam"):
            lint(broken, config=True)

    def test_arguments_win_over_the_configuration(self, broken: Path, tmp_path: Path):
        (tmp_path / "onnx-lint.toml").write_text('edition = "1.9"\n[severity]\nundefined-name = "note"\n')
        report = lint(broken, config=True)
        assert (report.edition, _severities(report)["undefined-name"]) == ("1.9", "note")
        report = lint(broken, {"edition": "1.16", "severity": {"undefined-name": "warning"}}, config=True)
        assert (report.edition, _severities(report)["undefined-name"]) == ("1.16", "warning")

    def test_an_argument_with_the_default_value_wins_as_well(self, broken: Path, tmp_path: Path):
        (tmp_path / "onnx-lint.toml").write_text(
            'fail-on = "never"\nedition = "1.9"\npedantic = true\nselect = ["cycle"]\n'
        )
        report = lint(broken, config=True)
        assert (report.fail_on, report.edition, _rules(report)) == ("never", "1.9", [])
        report = lint(broken, Settings(edition="1.23", pedantic=False), select=(), fail_on="error", config=True)
        assert (report.fail_on, report.edition, report.passes) == ("error", "1.23", False)
        assert _rules(report) == _rules(lint(broken))
        report = fix(broken, Settings(fail_on="error"), select=[], config=True)
        assert (report.fail_on, "undefined-name" in _rules(report)) == ("error", True)

    def test_options_of_rules_join_those_of_the_configuration(self, tmp_path: Path):
        (tmp_path / "onnx-lint.toml").write_text("[rules.oversized-message]\nmax_bytes = 10\n")
        name = tmp_path / "model.onnx"
        data = text_format.Parse(CLEAN, onnx.ModelProto()).SerializeToString()
        assert "oversized-message" in _rules(lint(data, config=True, filename=name))
        given = {"oversized-message": {"max_bytes": 1000}}
        assert "oversized-message" not in _rules(lint(data, {"options": given}, config=True, filename=name))

    def test_what_fails_is_what_the_configuration_says(self, tmp_path: Path):
        (tmp_path / "onnx-lint.toml").write_text('fail-on = "warning"\n')
        name = tmp_path / "model.onnx"
        assert lint(NAMELESS.encode()).passes
        assert not lint(NAMELESS.encode(), config=True, filename=name).passes


def test_a_notebook_shows_one_line(broken: Path):
    assert lint(broken)._repr_html_() == "<p>onnx-lint: 1 model does not conform to ONNX 1.23: 1 error</p>"


class TestExternalData:
    """The name decides in which folder external data is looked for, also for a model in memory."""

    @pytest.mark.parametrize("function", [lint, fix])
    def test_a_model_in_memory_has_the_folder_of_its_file_name(self, tmp_path: Path, function: Any):
        tensor = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [2], bytes(8), raw=True)
        onnx.external_data_helper.set_external_data(tensor, "w.bin", length=8)
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        data = text_format.Parse(CLEAN, onnx.ModelProto())
        data.graph.initializer.append(tensor)
        name = tmp_path / "model.onnx"
        assert "missing-external-file" in _rules(function(data, filename=name))
        assert "missing-external-file" not in _rules(function(data, Settings(external_data=False), filename=name))
        assert "missing-external-file" not in _rules(function(data))
        (tmp_path / "w.bin").write_bytes(bytes(8))
        assert "missing-external-file" not in _rules(function(data, filename=name))


class TestSettings:
    @pytest.mark.parametrize("name", ["opset_schemas", "external_data_roots"])
    def test_an_error_about_a_path_names_the_setting(self, tmp_path: Path, name: str):
        missing = tmp_path / "none"
        with pytest.raises(OSError, match=rf"\] {name}: .*{re.escape(str(missing))}") as caught:
            lint(NAMELESS.encode(), {name: iter([missing])})
        wanted = FileNotFoundError if name == "opset_schemas" else NotADirectoryError
        assert type(caught.value) is wanted
        assert caught.value.filename == str(missing)

    @pytest.mark.parametrize("odd", [3, None, b"onnx-lint.toml"])
    def test_config_of_another_type_is_named(self, odd: Any):
        for function in (lint, fix):
            with pytest.raises(TypeError, match=r"^config takes a path, True or False, not "):
                function(NAMELESS.encode(), config=odd)

    @pytest.mark.parametrize(
        ("settings", "same"),
        [
            ({"select": "cycle,name"}, {"select": ["cycle", "name"]}),
            ({"target": "onnxruntime=1.32"}, {"target": ("onnxruntime=1.32",)}),
            ({"opset_imports": 13}, {"opset_imports": {"ai.onnx": 13}}),
            ({"opset_imports": "13"}, {"opset_imports": {"": 13}}),
            ({"opset_imports": "ai.onnx=17, ai.onnx.ml=3"}, {"opset_imports": {"": 17, "ai.onnx.ml": 3}}),
            ({"limits": "findings=1"}, {"limits": {"findings": 1}}),
            ({"severity": "undefined-name=note"}, {"severity": {"undefined-name": "note"}}),
            ({"external_data_roots": "."}, {"external_data_roots": [Path(".")]}),
        ],
    )
    def test_a_string_and_a_list_or_mapping_are_the_same(self, settings: dict[str, Any], same: dict[str, Any]):
        assert lint(UNDEFINED.encode(), settings) == lint(UNDEFINED.encode(), same)

    @pytest.mark.parametrize(
        ("settings", "taken"),
        [
            ({"pedantic": "no"}, "pedantic takes True or False, not 'no' (str)"),
            ({"select": 3}, "select takes a string or a list of strings, not 3 (int)"),
            ({"plugins": [1]}, "plugins takes a path or a list of paths, not [1] (list)"),
            ({"limits": ["a"]}, "limits takes a mapping, or a string such as NAME=VALUE, not ['a'] (list)"),
            (
                {"opset_imports": [13]},
                "opset_imports takes a mapping, a number or a string such as [DOMAIN=]N, not [13]",
            ),
            ({"options": {"cycle": 1}}, "options takes a mapping of rules to mappings of options, not {'cycle': 1}"),
            ({"edition": 1.23}, "edition takes a string, not 1.23 (float)"),
            ({"selct": "cycle"}, "there is no setting 'selct'; did you mean 'select'?"),
            ("cycle", "settings are a Settings(...) or another mapping, not str"),
        ],
    )
    def test_another_type_is_refused_with_what_is_taken(self, settings: Any, taken: str):
        with pytest.raises(TypeError, match=re.escape(taken)):
            lint(CLEAN.encode(), settings)

    def test_an_editor_knows_the_names_and_values(self):
        hints = get_type_hints(Settings)
        assert get_args(hints["edition"]) == EDITIONS
        assert get_args(hints["fail_on"]) == GATES
        assert get_args(get_args(get_args(hints["severity"])[1])[1]) == LEVELS
        assert list(inspect.signature(assert_conforms).parameters) == list(inspect.signature(lint).parameters)

    @each_case("function", [lint, fix, assert_conforms])
    @each_case(
        ("keyword", "said"),
        [
            ("edition", "'edition' is a setting: write Settings(edition=...) as the second argument"),
            ("pedantic", "'pedantic' is a setting: write Settings(pedantic=...) as the second argument"),
            ("severity", "'severity' is a setting: write Settings(severity=...) as the second argument"),
            ("editon", "unexpected keyword argument 'editon'; did you mean 'edition'?"),
            ("zzz", "unexpected keyword argument 'zzz'"),
        ],
    )
    def test_a_setting_as_a_keyword_is_refused_with_what_to_write(self, function: Any, keyword: str, said: str):
        with pytest.raises(TypeError, match=f"^{re.escape(said)}$"):
            function(CLEAN.encode(), **{keyword: "1.21"})

    def test_a_value_of_a_mapping_is_one_value(self):
        """On the command line a comma begins another one."""
        with pytest.raises(ValueError, match=re.escape("not '4GiB,fields=5'")):
            lint(CLEAN.encode(), Settings(limits={"memory": "4GiB,fields=5"}))
        with pytest.raises(ValueError, match="unknown severity 'note,cycle=error'"):
            lint(CLEAN.encode(), {"severity": {"cycle": "note,cycle=error"}})  # type: ignore[typeddict-item]
        assert lint(CLEAN.encode(), Settings(limits={"memory": 4 << 30, "fields": "1000"})).passes
        assert lint(CLEAN.encode(), Settings(limits="memory=4GiB,fields=1000")).passes

    def test_a_domain_of_a_mapping_is_one_domain(self):
        for domain in ("ai.onnx=17,ai.onnx.ml", "a,b", "a=b"):
            with pytest.raises(ValueError, match=re.escape(f"--opset-import expects [DOMAIN=]N, not '{domain}=3'")):
                lint(CLEAN.encode(), Settings(opset_imports={domain: 3}))

    def test_the_text_of_a_report_says_why_a_model_was_not_checked(self):
        report = lint(CLEAN.encode(), Settings(limits={"memory": "1KiB"}), filename="m.onnx")
        assert str(report).startswith("m.onnx: not checked: the model needs at least ")
        assert str(report).count("m.onnx") == 1

    def test_fail_on_is_the_setting_of_that_name(self):
        assert not lint(UNDEFINED.encode()).passes
        assert lint(UNDEFINED.encode(), fail_on="never").passes
        assert not lint(UNDEFINED.encode(), Settings(fail_on="never"), fail_on="error").passes
