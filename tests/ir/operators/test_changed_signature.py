# SPDX-License-Identifier: Apache-2.0
"""Nodes that one release of ONNX Runtime takes and another one does not."""

from __future__ import annotations

import pytest

from onnx_lint import lint

MODEL = """ir_version: 8 producer_name: "p" producer_version: "1" opset_import { version: 17 }
    opset_import { domain: "com.microsoft" version: 1 }
    graph { name: "g" %s
    node { name: "n" op_type: "MatMulNBits" domain: "com.microsoft" input: "a" input: "b" input: "s" %s output: "y"
    attribute { name: "K" type: INT i: 32 } attribute { name: "N" type: INT i: 4 }
    attribute { name: "block_size" type: INT i: 16 } %s }
    input { name: "a" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 32 } } } } }
    input { name: "b" type { tensor_type { elem_type: 2
    shape { dim { dim_value: 4 } dim { dim_value: 2 } dim { dim_value: 8 } } } } }
    input { name: "s" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 2 } } } } }
    input { name: "z" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 2 } } } } }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 4 } } } } } }"""
BITS = 'attribute { name: "bits" type: INT i: 4 }'
REFUSES, LOADS = "refuses it: 1 cause", "loads, as far as its data say"
OWNER = "MatMulNBits of onnxruntime 1.17.3"


@pytest.mark.parametrize(
    ("inputs", "attributes", "release", "said"),
    [
        ("", BITS, "1.17", None),
        ("", "", "1.23", None),
        ("", "", "1.17", f"no attribute 'bits', which {OWNER} requires"),
        (
            "",
            BITS + 'attribute { name: "weight_prepacked" type: INT i: 0 }',
            "1.17",
            f"attribute 'weight_prepacked', which {OWNER} does not have",
        ),
        ('input: "z"', BITS, "1.20", None),
        ('input: "z"', BITS, "1.17", f"input 3 ('zero_points') of type tensor(float), which {OWNER} does not take"),
        ('input: "" input: "" input: "bias"', BITS, "1.17", f"6 inputs, but {OWNER} takes 3 to 4 inputs"),
    ],
)
def test_a_node_is_judged_by_the_signature_of_the_release(
    inputs: str, attributes: str, release: str, said: str | None
) -> None:
    bias = 'initializer { name: "bias" data_type: 1 dims: 4 float_data: [1, 1, 1, 1] }' if "bias" in inputs else ""
    report = lint((MODEL % (bias, inputs, attributes)).encode(), target=f"onnxruntime={release}")
    found = [item.message.partition(" has ")[2] for item in report.of_rule("unsupported-by-product")]
    assert found == ([] if said is None else [said])
    (verdict,) = report.files[0].targets
    assert verdict.text == (LOADS if said is None else REFUSES)


def test_types_that_a_release_bound_to_one_variable() -> None:
    """Since 1.32 the caches of GroupQueryAttention may have a type of their own."""
    caches = "".join(
        f'input {{ name: "{name}" type {{ tensor_type {{ elem_type: 3 shape {{ dim {{ dim_value: 1 }} '
        "dim { dim_value: 2 } dim { dim_value: 4 } dim { dim_value: 16 } } } } }"
        for name in ("k", "v")
    )
    model = f"""ir_version: 8 producer_name: "p" producer_version: "1" opset_import {{ version: 17 }}
        opset_import {{ domain: "com.microsoft" version: 1 }}
        graph {{ name: "g" node {{ name: "n" op_type: "GroupQueryAttention" domain: "com.microsoft" input: "q" input: ""
        input: "" input: "k" input: "v" input: "l" input: "t" output: "y" output: "pk" output: "pv"
        attribute {{ name: "num_heads" type: INT i: 2 }} attribute {{ name: "kv_num_heads" type: INT i: 2 }} }}
        input {{ name: "q" type {{ tensor_type {{ elem_type: 1
        shape {{ dim {{ dim_value: 1 }} dim {{ dim_value: 1 }} dim {{ dim_value: 96 }} }} }} }} }} {caches}
        input {{ name: "l" type {{ tensor_type {{ elem_type: 6 shape {{ dim {{ dim_value: 1 }} }} }} }} }}
        input {{ name: "t" type {{ tensor_type {{ elem_type: 6 shape {{ }} }} }} }}
        output {{ name: "y" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ }} dim {{ }} dim {{ }} }} }} }} }} }}"""

    def messages(release: str) -> list[str]:
        report = lint(model.encode(), target=f"onnxruntime={release}", select="target")
        return [item.message.partition(" has ")[2] for item in report.diagnostics]

    owner = "GroupQueryAttention of onnxruntime 1.23.2"
    assert messages("1.23") == [
        f"input 3 ('past_key') of type tensor(int8), which {owner} does not take",
        f"input 4 ('past_value') of type tensor(int8), which {owner} does not take",
    ]


@pytest.mark.parametrize("release", ["1.17", "1.20", "1.23", "1.32"])
def test_what_no_release_takes_is_one_finding_and_refused_by_each(release: str) -> None:
    model = MODEL % ("", "", BITS + 'attribute { name: "nonsense" type: INT i: 0 }')
    report = lint(model.encode(), target=f"onnxruntime={release}")
    assert [item.rule for item in report.diagnostics] == ["unknown-operator-attribute"]
    (verdict,) = report.files[0].targets
    assert (verdict.loads, verdict.text) == (False, REFUSES)


def test_an_operator_without_its_weights_is_not_said_to_be_refused() -> None:
    """ONNX Runtime loads QMoE without scales, and crashes when it runs it."""
    model = """ir_version: 8 producer_name: "p" producer_version: "1" opset_import { version: 17 }
        opset_import { domain: "com.microsoft" version: 1 }
        graph { name: "g" node { name: "n" op_type: "QMoE" domain: "com.microsoft" input: "x" input: "r" input: "w"
        input: "" input: "" input: "v" output: "y" }
        input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 32 } } } } }
        input { name: "r" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 4 } } } } }
        input { name: "w" type { tensor_type { elem_type: 2
        shape { dim { dim_value: 4 } dim { dim_value: 8 } dim { dim_value: 16 } } } } }
        input { name: "v" type { tensor_type { elem_type: 2
        shape { dim { dim_value: 4 } dim { dim_value: 32 } dim { dim_value: 4 } } } } }
        output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 32 } } } } }
        }"""
    report = lint(model.encode(), target="onnxruntime=1.32")
    assert {item.rule for item in report.diagnostics} == {"omitted-required-operand"}
    assert report.files[0].targets[0].loads is None
