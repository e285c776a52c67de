# SPDX-License-Identifier: Apache-2.0
"""The data about releases of products, and the options that use them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import onnx_lint
from onnx_lint.cli.application import application
from onnx_lint.spec.products import Kernel, product_release

FIXTURES = Path(__file__).parents[2] / "fixtures"
NEWER = FIXTURES / "unsupported-by-product" / "invalid" / "an_operator_set_of_a_later_release.textproto"
OWN = FIXTURES / "unknown-operator" / "valid" / "an_operator_of_the_target_in_the_default_domain.textproto"


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
        ("onnxruntime=1.1", "the known releases of onnxruntime are 1.17.3"),
        ("onnxruntime", "write NAME=VERSION"),
        ("onnxruntim=1.17", "did you mean 'onnxruntime'"),
    ],
)
def test_an_unknown_release_is_a_sentence(target: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        product_release(target)
    with pytest.raises(ValueError, match=message):
        onnx_lint.lint(NEWER, targets=target)
    result = run("--target", target, NEWER)
    assert result.exit_code == 2
    assert message in result.output


def test_a_kernel_implements_the_definitions_of_its_versions() -> None:
    assert [n for n in range(1, 20) if Kernel(7, 12, {}).is_for(n)] == [7, 8, 9, 10, 11, 12]
    assert [n for n in range(1, 20) if Kernel(13, None, {}).is_for(n)] == [13]


def test_a_target_of_the_command_line_or_the_configuration_runs_the_rule(tmp_path: Path) -> None:
    config = tmp_path / "onnx-lint.toml"
    config.write_text('targets = ["onnxruntime=1.17"]')
    for options in (["--target", "onnxruntime=1.17"], ["--config", config]):
        result = run(*options, NEWER)
        assert result.exit_code == 1
        assert "conforms to ONNX; target: 1 error" in result.output
    assert run(NEWER).exit_code == 0
    assert run("--target", "onnxruntime=1.32", NEWER).exit_code == 0
    assert run("--config", config, "--select", "cycle", NEWER).exit_code == 0
    assert run("--target", "onnxruntime=1.17", "--select", "cycle", NEWER).exit_code == 1


def test_an_operator_of_the_release_in_the_default_domain_is_named_once_without_it() -> None:
    model = OWN.read_text().replace(
        '"scale" output: "y" }',
        '"scale" output: "z" } node { op_type: "SimplifiedLayerNormalization" input: "z" input: "scale" output: "y" }',
    )
    assert [each.count for each in onnx_lint.lint(model.encode()).diagnostics] == [2]
    assert onnx_lint.lint(model.encode(), targets="onnxruntime=1.20").diagnostics == ()
