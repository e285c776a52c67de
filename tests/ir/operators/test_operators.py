# SPDX-License-Identifier: Apache-2.0
"""The operator of a node, the version that binds it, and the findings of the rules on signatures."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import onnx
import onnx.defs
import pytest
from support.project.checkout import ROOT

import onnx_lint
from onnx_lint.common.cached import Memory
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.rule_runs import lint_model
from onnx_lint.engine.settings import Settings, schemas_of
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.operators import operators
from onnx_lint.ir.operators.operators import Operator, OperatorStatus
from onnx_lint.loader import load
from onnx_lint.model import Model

EXAMPLE = ROOT / "docs" / "opset-schema.example.json"

SIGNATURE = Settings(select=("signature",))


def model_of(text: str) -> Model:
    return load(BytesSource(text.encode()), "model.textproto")


def messages(text: str, settings: Settings = SIGNATURE) -> list[str]:
    model = load(BytesSource(text.encode()), "model.textproto", schemas=schemas_of(settings))
    verdict = lint_model(model, settings)
    assert verdict.errors == ()
    return [f"{diagnostic.rule}: {diagnostic.message}" for diagnostic in verdict.diagnostics]


def statuses(text: str) -> list[tuple[str, OperatorStatus, int | None]]:
    model = model_of(text)
    operators = [model.operators.operator(node) for node in model.nodes()]
    return [(operator.op_type, operator.status, operator.opset_version) for operator in operators]


GELU = 'graph { name: "g" node { op_type: "Gelu" input: "x" output: "y" } }'


class TestWhichVersionBinds:
    def test_the_highest_of_two_imports(self):
        text = 'ir_version: 8 opset_import { version: 20 } opset_import { domain: "ai.onnx" version: 13 } ' + GELU
        assert statuses(text) == [("Gelu", OperatorStatus.KNOWN, 20)]

    def test_both_names_of_the_default_domain(self):
        text = (
            'ir_version: 8 opset_import { domain: "ai.onnx" version: 20 } graph { node { op_type: "Gelu" } '
            'node { op_type: "Gelu" domain: "ai.onnx" } }'
        )
        assert statuses(text) == [("Gelu", OperatorStatus.KNOWN, 20)] * 2
        model = model_of(text)
        assert len(model.operators.alike_nodes) == 1, "they are alike"

    @pytest.mark.parametrize(
        ("ir_version", "status", "version"), [(1, OperatorStatus.UNKNOWN, 1), (2, OperatorStatus.UNKNOWN, 1)]
    )
    def test_ir_versions_without_imports_have_opset_1(self, ir_version: int, status: OperatorStatus, version: int):
        assert statuses(f"ir_version: {ir_version} {GELU}") == [("Gelu", status, version)]

    @pytest.mark.parametrize("ir_version", [0, 14, 99])
    def test_without_an_import_the_newest_version_that_fits_counts(self, ir_version: int):
        text = f"ir_version: {ir_version} {GELU}"
        assert statuses(text) == [("Gelu", OperatorStatus.KNOWN, onnx.defs.onnx_opset_version())]
        assert messages(text) == []
        # No version that IR version 3 has knows the operator.
        assert statuses(f"ir_version: 3 {GELU}") == [("Gelu", OperatorStatus.UNBOUND, None)]

    @pytest.mark.parametrize("version", [0, -1])
    def test_a_version_that_cannot_be_is_no_import(self, version: int):
        assert statuses(f"ir_version: 8 opset_import {{ version: {version} }} {GELU}")[0][1] is OperatorStatus.UNBOUND

    def test_a_newer_opset_than_known_has_the_newest_signatures_and_unknown_operators(self):
        newest = onnx.defs.onnx_opset_version()
        text = (
            f"ir_version: 14 opset_import {{ version: {newest + 1} }} graph {{ "
            'node { op_type: "Relu" input: "x" input: "x" output: "y" } node { op_type: "Tomorrow" output: "z" } }'
        )
        assert [status for _, status, _ in statuses(text)] == [OperatorStatus.KNOWN, OperatorStatus.UNVERIFIED]
        assert messages(text) == [
            "operator-arity: unnamed node 0 (Relu) of the main graph has 2 inputs, "
            "but Relu as of opset 14 takes 1 input"
        ]
        assert model_of(text).operators.not_verified() == {"ai.onnx": 1}
        known = text.replace(f"version: {newest + 1}", f"version: {newest}")
        assert model_of(known).operators.not_verified() == {}
        assert len(messages(known)) == 2

    def test_a_function_has_its_own_imports_and_nested_graphs_those_around_them(self):
        text = """
            ir_version: 10 opset_import { version: 20 } opset_import { domain: "d" version: 1 }
            graph { node { op_type: "F" domain: "d" output: "y" } node { op_type: "Gelu" output: "z" } }
            functions {
              name: "F" domain: "d" opset_import { version: 17 }
              node { op_type: "If" attribute { name: "then_branch" type: GRAPH g { node { op_type: "Gelu" } } } }
            }
        """
        assert statuses(text) == [
            ("F", OperatorStatus.FUNCTION, None),
            ("Gelu", OperatorStatus.KNOWN, 20),
            ("If", OperatorStatus.KNOWN, 17),
            ("Gelu", OperatorStatus.UNKNOWN, 17),
        ]


class TestWhatAnOperatorIs:
    def test_a_function_wins_over_an_operator(self):
        text = """
            ir_version: 8 opset_import { version: 17 }
            graph { node { op_type: "Gelu" } node { op_type: "Relu" input: "a" input: "b" output: "y" } }
            functions { name: "Gelu" domain: "" } functions { name: "Relu" domain: "ai.onnx" }
        """
        assert [status for _, status, _ in statuses(text)] == [OperatorStatus.FUNCTION] * 2
        # The collision of names is reported, but not the nodes, which do not fit the operators.
        assert {message.partition(":")[0] for message in messages(text)} == {"standard-operator-collision"}

    def test_another_overload_of_a_function_is_not_the_operator(self):
        text = """
            ir_version: 10 opset_import { version: 17 }
            graph { node { op_type: "Relu" overload: "b" } }
            functions { name: "Relu" domain: "" overload: "a" }
        """
        assert statuses(text) == [("Relu", OperatorStatus.UNVERIFIED, None)]
        assert statuses(text.replace("ir_version: 10", "ir_version: 9"))[0][1] is OperatorStatus.FUNCTION

    def test_overloads_of_one_name_are_usages_of_their_own(self):
        text = """
            ir_version: 10
            graph { node { op_type: "F" domain: "d" overload: "a" } node { op_type: "F" domain: "d" overload: "b" }
                    node { op_type: "F" domain: "d" overload: "a" } }
            functions { name: "F" domain: "d" overload: "a" } functions { name: "F" domain: "d" overload: "b" }
        """
        found = [
            (alike.operator.function.overload, [node.index for node in alike.nodes])
            for alike in model_of(text).operators.alike_nodes
            if alike.operator.function is not None
        ]
        assert found == [("a", [0, 2]), ("b", [1])]

    def test_a_node_without_op_type_is_left_to_its_rule(self):
        text = 'ir_version: 8 opset_import { version: 17 } graph { node { output: "y" } }'
        assert statuses(text) == [("", OperatorStatus.UNNAMED, 17)]
        assert messages(text) == []
        assert model_of(text).operators.not_verified() == {}

    def test_a_deprecated_operator_is_not_judged_further(self):
        text = 'ir_version: 8 opset_import { version: 10 } graph { node { name: "u" op_type: "Upsample" output: "y" } }'
        assert [message.partition(":")[0] for message in messages(text)] == ["deprecated-operator"]


class TestUsages:
    def test_nodes_that_look_alike_are_one_usage(self):
        text = """
            ir_version: 8 opset_import { version: 17 } graph {
              node { op_type: "Clip" input: "x" output: "a" }
              node { op_type: "Clip" input: "a" input: "" output: "b" }
              node { op_type: "Clip" input: "b" input: "lo" output: "c" }
              node { op_type: "Clip" input: "c" input: "" output: "" }
              node { op_type: "Clip" input: "d" output: "e" attribute { name: "min" f: 1 type: FLOAT } }
              node { op_type: "Clip" input: "e" output: "f" attribute { name: "min" i: 1 type: INT } }
              node { op_type: "Clip" input: "f" output: "g" attribute { name: "min" f: 2 type: FLOAT } }
              node { op_type: "Clip" input: "y" output: "h" }
            }
        """
        found = [
            (alike.inputs, alike.outputs, alike.attributes, [node.index for node in alike.nodes])
            for alike in model_of(text).operators.alike_nodes
        ]
        assert found == [
            ((True,), (True,), (), [0, 7]),
            ((True, False), (True,), (), [1]),
            ((True, True), (True,), (), [2]),
            ((True, False), (False,), (), [3]),
            ((True,), (True,), (("min", 1),), [4, 6]),
            ((True,), (True,), (("min", 2),), [5]),
        ]

    def test_usages_are_shared_between_graphs_of_one_version(self):
        nodes = "".join(
            f'node {{ op_type: "If" attribute {{ name: "b" type: GRAPH g {{ node {{ op_type: "Relu" input: "{i}" '
            'output: "r" } } } } '
            for i in range(3)
        )
        alike_nodes = model_of(
            f"ir_version: 8 opset_import {{ version: 17 }} graph {{ {nodes} }}"
        ).operators.alike_nodes
        assert [(alike.operator.op_type, len(alike.nodes)) for alike in alike_nodes] == [("If", 3), ("Relu", 3)]


class TestManyFaults:
    def test_many_unknown_operators_are_told_without_comparing_all_names(self):
        nodes = "".join(f'node {{ op_type: "Rel{i}" output: "y{i}" }} ' for i in range(300))
        found = messages(f"ir_version: 8 opset_import {{ version: 17 }} graph {{ {nodes} }}")
        assert len(found) == 300
        assert sum("did you mean" in message for message in found) <= 100


class TestNotVerified:
    TEXT = """
        ir_version: 8 opset_import { version: 17 } opset_import { domain: "com.example.vision" version: 2 }
        opset_import { domain: "com.microsoft" version: 1 } opset_import { domain: "local" version: 1 }
        graph { name: "g"
          node { name: "a" op_type: "CropAndResize" domain: "com.example.vision" input: "x" input: "b" output: "y" }
          node { name: "b" op_type: "CropAndResise" domain: "com.example.vision" output: "z" }
          node { name: "c" op_type: "Tomorrow" domain: "com.microsoft" output: "t" }
          node { name: "d" op_type: "Gelu" domain: "com.microsoft" input: "x" output: "u" }
          node { name: "e" op_type: "F" domain: "local" input: "x" output: "v" }
          node { name: "f" op_type: "Relu" input: "x" output: "w" }
          node { name: "g" op_type: "Anything" domain: "not.imported" output: "q" }
        }
        functions { name: "F" domain: "local" opset_import { domain: "other" version: 1 }
                    node { op_type: "X" domain: "other" } }
    """

    def test_nodes_without_a_signature_are_counted_by_domain(self):
        report = lint_source(BytesSource(self.TEXT.encode()), "model.textproto", SIGNATURE)
        assert report.not_verified == (
            ("com.example.vision", 2),
            ("com.microsoft", 1),
            ("not.imported", 1),
            ("other", 1),
        )
        # To select the chapter lists what is reported with --pedantic only, too.
        assert [diagnostic.rule for diagnostic in report.diagnostics] == ["unregistered-operator"]

    def test_a_schema_file_makes_its_domain_verified(self):
        settings = Settings(select=("signature",), opset_schemas=(str(EXAMPLE),))
        report = lint_source(BytesSource(self.TEXT.encode()), "model.textproto", settings)
        assert report.not_verified == (("com.microsoft", 1), ("not.imported", 1), ("other", 1))
        assert [f"{diagnostic.rule}: {diagnostic.message}" for diagnostic in report.diagnostics] == [
            "missing-operator-attribute: node 'a' (com.example.vision::CropAndResize) has no attribute 'size', "
            "but CropAndResize as of opset 2 requires it; this is CropAndResize as it was up to opset 1, but the model "
            "imports 2",
            "unknown-operator: node 'b' (com.example.vision::CropAndResise) uses an operator that "
            "'com.example.vision' 2 does not have",
            "unregistered-operator: node 'c' (com.microsoft::Tomorrow) uses an operator that ONNX Runtime 1.32.0 does "
            "not have",
        ]

    def test_a_file_that_is_no_model_has_nothing_to_count(self):
        assert lint_source(BytesSource(b"\xff\xff"), "model.onnx", SIGNATURE).not_verified == ()

    def test_the_library_takes_schema_files(self):
        report = onnx_lint.lint(_binary(self.TEXT), {"opset_schemas": [EXAMPLE]}, select=("signature",))
        assert [name for name, _ in report.files[0].not_verified] == ["com.microsoft", "not.imported", "other"]


def _binary(text: str) -> bytes:
    return bytes(model_of(text).proto.SerializeToString())


class TestSchemaFiles:
    def test_a_faulty_file_is_refused_at_once(self, tmp_path: Path):
        path = tmp_path / "ops.json"
        path.write_text('{"format": 2, "domain": "a.b", "operators": []}')
        with pytest.raises(ValueError, match="format 2 is not known"):
            Settings(opset_schemas=(str(path),))

    def test_a_file_that_is_not_there_is_refused_at_once(self, tmp_path: Path):
        with pytest.raises(FileNotFoundError):
            Settings(opset_schemas=(str(tmp_path / "none.json"),))

    def test_a_file_that_has_changed_is_read_again(self, tmp_path: Path):
        path = tmp_path / "ops.json"
        text = 'ir_version: 8 opset_import { domain: "a.b" version: 1 } graph { node { op_type: "N" domain: "a.b" } }'
        found = []
        for name in ("N", "Other"):
            operators = [{"name": name, "since_version": 1}]
            path.write_text(json.dumps({"format": 1, "domain": "a.b", "operators": operators}))
            found.append(len(messages(text, Settings(select=("unknown-operator",), opset_schemas=(str(path),)))))
        assert found == [0, 1]

    def test_the_file_in_the_documentation_is_one(self, tmp_path: Path):
        text = EXAMPLE.with_name("opset-schema.md").read_text(encoding="utf-8")
        (block,) = re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        path = tmp_path / "ops.json"
        path.write_text(block)
        assert Settings(opset_schemas=(str(path),)).opset_schemas == (str(path),)

    def test_settings_can_be_sent_to_another_process(self):
        settings = Settings(opset_schemas=(str(EXAMPLE),))
        assert pickle.loads(pickle.dumps(settings)) == settings


class TestModelsOfOneRun:
    """Operators and signatures are kept for later models. Models that differ in what decides them get their own."""

    IMPORTS_20 = "ir_version: 8 opset_import { version: 20 } "
    IMPORTS_19 = "ir_version: 8 opset_import { version: 19 } "
    FUNCTION = (
        'functions { domain: "" name: "Gelu" input: "a" output: "b" opset_import { version: 20 } '
        'node { op_type: "Relu" input: "a" output: "b" } } '
    )
    CASES = (
        (IMPORTS_20 + GELU, OperatorStatus.KNOWN),
        (IMPORTS_19 + GELU, OperatorStatus.UNKNOWN),  # the operator came with version 20
        ('ir_version: 8 opset_import { domain: "ai.onnx.ml" version: 3 } ' + GELU, OperatorStatus.UNBOUND),
        (IMPORTS_20 + FUNCTION + GELU, OperatorStatus.FUNCTION),
        (IMPORTS_20 + GELU.replace('"Gelu"', '"Gelu" domain: "a.b"'), OperatorStatus.UNBOUND),
    )

    @pytest.mark.parametrize("order", [1, -1])
    def test_imports_and_functions(self, order: int):
        cases = (*self.CASES, *self.CASES)[::order]
        found = []
        for text, _ in cases:
            model = model_of(text)
            found.append(model.operators.operator(model.main_graph.nodes[0]).status)
        assert found == [status for _, status in cases]

    @pytest.mark.parametrize("order", [1, -1])
    def test_schema_files(self, order: int):
        text = (
            'ir_version: 8 opset_import { version: 20 } opset_import { domain: "com.example.vision" version: 2 } '
            'graph { name: "g" node { op_type: "Resize3" domain: "com.example.vision" input: "x" output: "y" } }'
        )
        unknown = (
            "unknown-operator: unnamed node 0 (com.example.vision::Resize3) of the main graph uses an operator that "
            "'com.example.vision' 2 does not have"
        )
        settings = (
            Settings(select=("unknown-operator",)),
            Settings(select=("unknown-operator",), opset_schemas=(str(EXAMPLE),)),
        )
        cases = [(settings[0], []), (settings[1], [unknown])] * 2
        assert [messages(text, given) for given, _ in cases[::order]] == [found for _, found in cases[::order]]

    def test_operators_with_one_name_and_version_are_one_object(self):
        texts = (self.IMPORTS_20 + GELU, self.IMPORTS_20 + GELU, self.IMPORTS_19 + GELU)
        first, second, other = (model_of(text).operators.alike_nodes[0].operator for text in texts)
        assert first is second is not other

    def test_so_many_are_kept_and_no_more(self, monkeypatch: pytest.MonkeyPatch):
        kept = Memory[tuple[str, str, int | None], Operator](10)
        monkeypatch.setattr(operators, "_built_in", kept)
        for first in range(0, 60, 4):
            nodes = " ".join(f'node {{ op_type: "N{number}" }}' for number in range(first, first + 4))
            model = model_of(f"{self.IMPORTS_20} graph {{ {nodes} }}")
            assert {alike.operator.status for alike in model.operators.alike_nodes} == {OperatorStatus.UNKNOWN}
        assert 0 < len(kept) <= 10
