# SPDX-License-Identifier: Apache-2.0
"""The data about releases of products, and the options that use them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import onnx_lint
from onnx_lint.cli.application import application
from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES
from onnx_lint.spec.operators import BUILT_IN
from onnx_lint.spec.products import PRODUCTS, Kernel, product_release
from onnx_lint.spec.target import target_of

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
NEWER = FIXTURES / "unsupported-by-product" / "invalid" / "an_operator_set_of_a_later_release.textproto"
OWN = FIXTURES / "unknown-operator" / "invalid" / "an_operator_of_the_target_in_the_default_domain.textproto"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(application, [str(each) for each in arguments])


@pytest.mark.parametrize("version", ["1.17", "1.17.3", "1"])
def test_the_beginning_of_a_version_names_the_newest_release(version: str) -> None:
    found = product_release(f"onnxruntime={version}")
    assert found.version == {"1": "1.32.0"}.get(version, "1.17.3")
    assert found.opsets[""] == {"1": 28}.get(version, 20)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("onnxruntime=01.32", "the known releases of onnxruntime are"),
        ("onnxruntime=1.032", "the known releases of onnxruntime are"),
        ("onnxruntime=1.\N{FULLWIDTH DIGIT TWO}", "the known releases of onnxruntime are"),
        ("onnx.checker=9", "write onnx.checker"),
        ("onnx.foo=3", "unknown target"),
        pytest.param(
            "onnxruntime=1." + "9" * 5000, "the known releases of onnxruntime are", id="a version of 5,000 digits"
        ),
        ("onnxruntime=1.1", "the known releases of onnxruntime are 1.17.3"),
        ("onnxruntime", "write NAME=VERSION, such as onnxruntime=1.32.0"),
        ("onnxruntim=1.17", "did you mean 'onnxruntime'"),
        ("openvino=2022", "the known releases of openvino are 2023.3.0, 2024.6.0"),
        ("tensorrt=8", "target 'tensorrt=8': the known releases of tensorrt are 10.15"),
    ],
)
def test_an_unknown_release_is_a_sentence(target: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        onnx_lint.lint(NEWER, target=target)
    result = run("--target", target, NEWER)
    assert result.exit_code == 2
    assert message in result.output


NEWEST = {"onnxruntime": "1", "openvino": "2026", "tensorrt": "10"}


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_data_of_each_product_name_operators_of_onnx_and_known_types(product: str) -> None:
    """A name with a mistake would never match."""
    release = product_release(f"{product}={NEWEST[product]}")
    kinds = {f"tensor({name})" for name in ELEMENT_TYPE_NAMES}
    assert release.element_types <= kinds
    for name, entry in release.operators.items():
        domain, _, op_type = name.partition("::")
        versions = BUILT_IN.versions(domain, op_type)
        for version, _ in entry.get("refused", ()):
            assert versions, name
            assert version is None or version in versions, name
        for first, _, types, _ in entry.get("refused_types", ()):
            schema = BUILT_IN.find(domain, op_type, first)
            assert schema is not None, name
            allowed = {each.variable: each.types for each in (*schema.inputs, *schema.outputs)}
            assert all(release.types[index] < allowed[variable] for variable, index in types.items()), name


def test_a_list_of_refused_operators_is_by_release_and_definition() -> None:
    old, new = product_release("openvino=2023.3"), product_release("openvino=2026")
    assert [release.refuses("", "Gelu", 20) for release in (old, new)] == [True, False]
    assert [release.refuses("", "Det", 11) for release in (old, new)] == [True, True]
    assert [release.refuses("", "Det", 12) for release in (old, new)] == [False, False]
    assert product_release("tensorrt=10.15").refuses("", "Det", 22)
    assert not new.has_kernels


def test_operators_of_domains_that_the_data_do_not_cover_are_not_judged() -> None:
    """A schema file describes the operator, so that its types are known; a library may register it."""
    model = """ir_version: 9 producer_name: "p" opset_import { version: 17 }
        opset_import { domain: "com.example.vision" version: 2 }
        graph { name: "g" node { op_type: "CropAndResize" domain: "com.example.vision" input: "x" output: "y" }
        input { name: "x" type { tensor_type { elem_type: 1 shape { } } } } }"""
    schemas = [ROOT / "docs" / "opset-schema.example.json"]
    for target in ("onnxruntime=1.17", "openvino=2026", "tensorrt=10"):
        report = onnx_lint.lint(model.encode(), {"opset_schemas": schemas}, target=target, select="target")
        assert report.diagnostics == (), target


def test_a_kernel_implements_the_definitions_of_its_versions() -> None:
    assert [n for n in range(1, 20) if Kernel(7, 12, {}).is_for(n)] == [7, 8, 9, 10, 11, 12]
    assert [n for n in range(1, 20) if Kernel(13, None, {}).is_for(n)] == [13]


@pytest.mark.parametrize(
    ("domain", "op_type", "version", "kind", "refusing"),
    [
        ("", "Elu", 17, 11, "1.17.3 1.20.1 1.23.2 1.32.0"),
        ("", "Elu", 18, 11, ""),
        ("", "Elu", 19, 11, "1.17.3 1.20.1 1.23.2 1.32.0"),
        ("", "Elu", 17, 1, ""),
        ("", "GRUUnit", 9, 1, "1.17.3 1.20.1 1.23.2 1.32.0"),
        ("com.microsoft", "QuickGelu", 16, 11, "1.17.3 1.20.1 1.23.2"),
        ("com.microsoft", "QuickGelu", 16, 16, "1.17.3 1.20.1 1.23.2 1.32.0"),
    ],
)
def test_an_operator_without_a_kernel_runs_its_function_in_some_versions_and_types(
    domain: str, op_type: str, version: int, kind: int, refusing: str
) -> None:
    model = single_node(domain, op_type, version, kind)
    found = onnx_lint.lint(model, target=[f"onnxruntime={each}" for each in RELEASES], select="target").errors
    said = " ".join(item.message for item in found)
    assert [each for each in RELEASES if f"onnxruntime {each} " in said] == refusing.split()


RELEASES = ("1.17.3", "1.20.1", "1.23.2", "1.32.0")


def test_a_target_of_the_command_line_or_the_configuration_runs_the_rule(tmp_path: Path) -> None:
    config = tmp_path / "onnx-lint.toml"
    config.write_text('targets = ["onnxruntime=1.17"]')
    for options in (["--target", "onnxruntime=1.17"], ["--config", config]):
        result = run(*options, NEWER)
        assert result.exit_code == 1
        assert "conforms to ONNX 1.23; target: 1 error" in result.output
    assert run(NEWER).exit_code == 0
    assert run("--target", "onnxruntime=1.32", NEWER).exit_code == 0
    assert run("--config", config, "--select", "cycle", NEWER).exit_code == 0
    assert run("--target", "onnxruntime=1.17", "--select", "cycle", NEWER).exit_code == 1


def test_an_operator_of_the_release_in_the_default_domain_does_not_conform_and_is_a_warning_for_the_release() -> None:
    model = OWN.read_text().replace(
        '"scale" output: "y" }',
        '"scale" output: "z" } node { op_type: "SimplifiedLayerNormalization" input: "z" input: "scale" output: "y" }',
    )
    bare, report = onnx_lint.lint(model.encode()), onnx_lint.lint(model.encode(), target="onnxruntime=1.20")
    assert [(each.count, each.severity.label) for each in bare.diagnostics] == [(2, "error")]
    (item,) = report.diagnostics
    assert (item.count, item.severity.label, report.conforms, report.passes) == (2, "warning", False, True)
    assert item.by_target.answers == (("onnxruntime 1.20.1", "has this operator"),)
    assert (item.by_target.accepted_by, item.by_target.refused_by) == ((), ()), (
        "nobody knows whether it takes these operands"
    )
    (verdict,) = report.files[0].targets
    assert (verdict.loads, verdict.text) == (
        None,
        "not judged: 1 node of ai.onnx with an operator of onnxruntime's own",
    )


FOREIGN = """ir_version: 8 producer_name: "p" producer_version: "1" opset_import { version: 16 }
    opset_import { domain: "%s" version: 1 }
    graph { name: "g" node { name: "n" op_type: "%s" domain: "%s" input: "x" output: "y" }
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } }"""


def single_node(domain: str, op_type: str, version: int, kind: int) -> bytes:
    """`version`: of the default domain. `kind`: the number of the element type."""
    text = FOREIGN.replace("version: 16", f"version: {version}").replace("elem_type: 1", f"elem_type: {kind}")
    return (text % (domain, op_type, domain)).encode()


@pytest.mark.parametrize(
    ("domain", "op_type", "said"),
    [
        ("com.acme", "Op", "it needs a library that registers 'com.acme'"),
        ("ai.onnx.contrib", "Op", "it needs a library that registers 'ai.onnx.contrib': onnxruntime-extensions"),
        ("", "Affine", "uses an experimental operator that was removed from ONNX"),
        ("", "ATen", "uses an experimental operator that was removed from ONNX"),
    ],
)
def test_an_operator_that_no_release_registers_is_an_error(domain: str, op_type: str, said: str) -> None:
    model = (FOREIGN % (domain, op_type, domain)).encode()
    for target in ("onnxruntime=1.17", "onnxruntime=1.32"):
        assert [item.message.partition(said)[1] for item in onnx_lint.lint(model, target=target).errors] == [said]
    assert onnx_lint.lint(model, target="openvino=2026").of_rule("unsupported-by-product") == ()


def test_a_domain_that_the_configuration_registers_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "onnx-lint.toml").write_text('targets = ["onnxruntime=1.32"]\nregistered = ["com.acme"]')
    report = onnx_lint.lint((FOREIGN % ("com.acme", "Op", "com.acme")).encode(), config=tmp_path / "onnx-lint.toml")
    assert report.errors == ()
    assert report.files[0].targets[0].text == "not judged: 1 node of com.acme"


def test_a_release_that_is_not_listed_is_judged_by_its_neighbours() -> None:
    """Operator set 24 came between 1.23.2 and 1.32.0; 1.17.3 and 1.20.1 both have no version 22."""

    def levels(version: int, target: str, name: str = "Relu", kind: int = 1, domain: str = "") -> set[tuple[str, str]]:
        model = single_node(domain, name, version, kind)
        found = onnx_lint.lint(model, target=target, select="target").diagnostics
        return {(item.clause, item.severity.label) for item in found}

    assert levels(24, "onnxruntime=1.24") == {("PRD-5", "warning")}
    assert levels(16, "onnxruntime=1.24") == set()
    assert levels(24, "onnxruntime=1.18") == {("PRD-2", "error")}
    assert levels(16, "onnxruntime=1.24", "Elu", 11) == {("PRD-4", "error")}
    assert levels(16, "onnxruntime=1.24", "QuickGelu", 11, "com.microsoft") == {("PRD-5", "warning")}
    with pytest.raises(ValueError, match="the known releases of onnxruntime are"):
        levels(16, "onnxruntime=2.0")


def test_targets_are_separated_by_commas_too() -> None:
    assert target_of(["ai.onnx=17, ir=8"]) == target_of(["ai.onnx=17", "ir=8"])
    for name in ("ai.onnx=17 ir=8", "a=b=1", "=1"):
        with pytest.raises(ValueError, match="unknown target"):
            target_of([name])
