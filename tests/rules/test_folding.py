# SPDX-License-Identifier: Apache-2.0
"""A hundred faults of one cause are one finding, with the first place, a few more, and the number."""

from __future__ import annotations

import json
from pathlib import Path

import onnx.parser
import pytest

from onnx_lint import lint
from onnx_lint.cli.application import run

TYPE = "type { tensor_type { elem_type: 1 shape { dim { dim_value: %d } } } }"
HEAD = 'ir_version: 10 producer_name: "p" opset_import { version: 21 } opset_import { domain: "example" version: 1 }\n'


def _model(nodes: str, entries: str = "", attributes: str = "") -> str:
    use = f'node {{ name: "use" op_type: "Use" domain: "example" input: "x" output: "y" {attributes}}}'
    values = f'input {{ name: "x" {TYPE % 2} }} output {{ name: "y" {TYPE % 2} }}'
    return f'{HEAD}graph {{ name: "graph" {values} {use}\n{nodes}{entries} }}\n'


def _negative_dimensions(count: int) -> str:
    entries = "".join(f'value_info {{ name: "v{index}" {TYPE % -1} }}\n' for index in range(count))
    return _model(_nodes(count, lambda index: f"n{index}"), entries)


def _nodes(count: int, name) -> str:
    return "".join(
        f'node {{ name: "{name(index)}" op_type: "Relu" input: "x" output: "v{index}" }}\n' for index in range(count)
    )


def _node_names(count: int) -> str:
    return _model(_nodes(2 * count, lambda index: f"n{index // 2}"))


def _entries(count: int) -> str:
    entries = "".join(f'value_info {{ name: "v{index % count}" {TYPE % 2} }}\n' for index in range(2 * count))
    return _model(_nodes(count, lambda index: f"n{index}"), entries)


def _contradicting_entries(count: int) -> str:
    entries = "".join(
        f'value_info {{ name: "v{index % count}" {TYPE % (2 + index // count)} }}\n' for index in range(2 * count)
    )
    nodes = _nodes(count, lambda index: f"n{index}").replace('op_type: "Relu"', 'op_type: "Use" domain: "example"')
    return _model(nodes, entries)


def _graph_names(count: int) -> str:
    return _model("", "", 'attribute { name: "bodies" type: GRAPHS ' + 'graphs { name: "body" }\n' * (count + 1) + "}")


FAMILIES = {
    "negative-dimension": (_negative_dimensions, ("dimension is negative", "dimensions are negative")),
    "duplicate-node-name": (_node_names, ("node repeats a name", "nodes repeat a name")),
    "duplicate-value-info": (_entries, ("entry repeats an earlier one", "entries repeat earlier ones")),
    "duplicate-value-info ": (
        _contradicting_entries,
        ("entry contradicts an earlier one", "entries contradict earlier ones"),
    ),
    "duplicate-graph-name": (_graph_names, ("graph repeats a name", "graphs repeat a name")),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _found(folder: Path, rule: str, text: str, *arguments: str) -> dict:
    """The JSON report and the SARIF run on the model in `text`, of one rule."""
    (folder / "m.textproto").write_text(text)
    run(["m.textproto", "-q", "--select", rule.strip(), "-o", "m.json", "-o", "m.sarif", *arguments])
    report = json.loads((folder / "m.json").read_text())
    return {
        "findings": report["files"][0]["diagnostics"],
        "results": json.loads((folder / "m.sarif").read_text())["runs"][0]["results"],
        "summary": report["summary"],
    }


@pytest.mark.parametrize("rule", FAMILIES)
@pytest.mark.parametrize("count", [1, 2, 3, 100])
def test_one_finding_has_the_first_places_and_the_number(folder, rule, count):
    make, (one, several) = FAMILIES[rule]
    found = _found(folder, rule, make(count))
    (finding,), (result,) = found["findings"], found["results"]
    behind = {1: "", 2: f"; 1 more {one}", 3: f"; 2 more {several}", 100: f"; 99 more {several}"}[count]
    assert finding["message"].endswith(behind)
    assert ("more" in finding["message"]) == (count > 1)
    assert finding.get("count") == (count if count > 1 else None)
    assert result.get("occurrenceCount") == (count if count > 1 else None)
    # The first place has its counterpart, but for a dimension; the next three places follow.
    counterparts = 0 if rule == "negative-dimension" else 1
    places = [finding["place"], *(related["place"] for related in finding["related"])]
    assert len(places) == len(set(places)) == min(count, 4) + counterparts


@pytest.mark.parametrize("rule", FAMILIES)
def test_the_fingerprint_does_not_depend_on_the_number(folder, rule):
    make, _ = FAMILIES[rule]
    found = [_found(folder, rule, make(count)) for count in (1, 2, 100)]
    assert len({item["findings"][0]["fingerprint"] for item in found}) == 1
    assert len({item["results"][0]["partialFingerprints"]["primaryLocationLineHash"] for item in found}) == 1


@pytest.mark.parametrize("rule", FAMILIES)
def test_a_baseline_knows_as_many_as_there_were(folder, rule):
    make, _ = FAMILIES[rule]
    _found(folder, rule, make(3), "--write-baseline", "b.json")
    (entries,) = json.loads((folder / "b.json").read_text())["files"].values()
    assert [entry["count"] for entry in entries] == [3]

    def reported(count: int) -> tuple[int, int, int]:
        found = _found(folder, rule, make(count), "--baseline", "b.json")
        return len(found["findings"]), found["summary"]["suppressed"], found["summary"]["stale"]

    assert reported(3) == (0, 1, 0)
    assert reported(2) == (0, 1, 1)
    assert reported(4) == (1, 0, 0)
    _found(folder, rule, make(2), "--baseline", "b.json", "--prune-baseline")
    assert reported(2) == (0, 1, 0)
    assert reported(3) == (1, 0, 0)


def test_graphs_and_training_have_findings_of_their_own(folder):
    nodes = '{ name: "n" op_type: "Relu" input: "x" output: "a%d" }'
    body = " ".join(f"node {nodes % index}" for index in range(2))
    function = f'functions {{ name: "f" domain: "example" input: "x" opset_import {{ version: 21 }} {body} }}\n'
    training = f'training_info {{ algorithm {{ name: "step" node {nodes % 2} node {nodes % 3} }} }}\n'
    text = _model(" ".join(f"node {nodes % index}" for index in range(2))) + function + training
    found = _found(folder, "duplicate-node-name", text)["findings"]
    assert [(item["clause"], item["place"], item["subject"]) for item in found] == [
        ("NAM-4", "graph.node[2].name", "graph"),
        ("TRN-9", "training_info[0].algorithm.node[0].name", "step"),
        ("NAM-4", "training_info[0].algorithm.node[1].name", "step"),
        ("NAM-4", "functions[0].node[1].name", "f"),
    ]


MISUSES = {
    "operator-arity": ("Relu", '"x", "x"', ""),
    "operator-arity ": ("Add", '"x"', ""),
    "operator-arity  ": ("Concat", '""', 'attribute { name: "axis" i: 0 type: INT }'),
    "omitted-required-operand": ("Add", '"", "x"', ""),
    "unknown-operator-attribute": ("Relu", '"x"', 'attribute { name: "alpha" f: 1 type: FLOAT }'),
    "unknown-operator-attribute ": ("Unsqueeze", '"x"', 'attribute { name: "axes" ints: 0 type: INTS }'),
    "missing-operator-attribute": ("Cast", '"x"', ""),
    "missing-operator-attribute ": ("Constant", "", ""),
    "wrong-operator-attribute-type": ("LeakyRelu", '"x"', 'attribute { name: "alpha" i: 1 type: INT }'),
    "unknown-operator": ("Rleu", '"x"', ""),
    "deprecated-operator": ("Scatter", '"x", "x", "x"', ""),
    "removed-experimental-operator": ("Affine", '"x"', ""),
}
"""For each rule an operator, the inputs and the attributes of a node that breaks it, at opset 21."""


def _misuses(rule: str, count: int, name: str = "n") -> str:
    op_type, inputs, attributes = MISUSES[rule]
    node = f'op_type: "{op_type}" input: [{inputs}] {attributes}'
    return "".join(f'node {{ name: "{name}{index}" output: "{name}{index}" {node} }}\n' for index in range(count))


@pytest.mark.parametrize("rule", MISUSES)
@pytest.mark.parametrize("count", [1, 2, 100])
def test_nodes_that_misuse_an_operator_alike_are_one_finding(folder, rule, count):
    (finding,) = _found(folder, rule, _model(_misuses(rule, count)))["findings"]
    others = {
        1: "",
        2: " 1 more node has this fault: 'n1'",
        100: " 99 more nodes have this fault: 'n1', 'n2', 'n3', ...",
    }
    assert finding["message"].endswith(others[count])
    assert ("more node" in finding["message"]) == (count > 1)
    assert finding.get("count") == (count if count > 1 else None)
    assert (finding["node"], len(finding["related"])) == ("n0", min(count, 4) - 1)


@pytest.mark.parametrize("rule", MISUSES)
def test_nodes_under_another_import_have_a_finding_of_their_own(folder, rule):
    body = f'functions {{ name: "f" domain: "example" opset_import {{ version: 20 }} {_misuses(rule, 3, "m")} }}\n'
    found = _found(folder, rule, _model(_misuses(rule, 2)) + body)["findings"]
    assert [(item["node"], item["count"]) for item in found] == [("n0", 2), ("m0", 3)]


@pytest.mark.parametrize(
    ("more", "words", "counts"),
    [
        ("", "all its nodes fit", [("Gelu", 9)]),  # version 20 has all of them
        ('node { op_type: "Relu" input: ["x", "x"] output: "q" }', "9 of its nodes need", [("Gelu", 9)]),
        ('node { op_type: "ReduceMean" input: "x" output: "q" attribute { name: "axes" ints: 0 type: INTS } }', None,
         [("Gelu", 3), ("Mish", 3), ("HardSwish", 3)]),  # fits up to version 17
        ('node { op_type: "Softmax" input: "x" output: "q" }', "all its nodes fit", [("Gelu", 9)]),
    ],
)  # fmt: skip
def test_operators_that_one_import_has_are_one_finding(
    folder, more: str, words: str | None, counts: list[tuple[str, int]]
):
    nodes = [
        f'node {{ op_type: "{name}" input: "x" output: "{name}{index}" }}'
        for index in range(3)
        for name in ("Gelu", "Mish", "HardSwish")
    ]
    text = _model("\n".join([*nodes, more])).replace("opset_import { version: 21 }", "opset_import { version: 13 }")
    found = _found(folder, "unknown-operator", text)["findings"]
    assert [(item["operator"], item["count"]) for item in found] == counts
    hint = f"import version 20 of 'ai.onnx', which {words}"
    assert [item.get("hint") == hint for item in found] == [words is not None] * len(counts)


def test_the_calls_that_break_a_node_of_a_function_are_named(folder):
    calls = "".join(
        f'node {{ name: "call{index}" op_type: "F" domain: "example" input: ["image", "s{index}"] output: "z{index}" }}'
        f'initializer {{ name: "s{index}" dims: 4 data_type: 1 float_data: [{scales}] }}\n'
        for index, scales in enumerate(["1, 1, 2, 2", "1, 1, -2, 2", "1, -3, 2, 2"])
    )
    image = 'initializer { name: "image" dims: [1, 1, 1, 1] data_type: 1 float_data: 0 }\n'
    resize = 'node { name: "r" op_type: "Resize" input: ["a", "", "s"] output: "b" } opset_import { version: 21 }'
    body = f'functions {{ name: "F" domain: "example" input: ["a", "s"] output: "b" {resize} }}'
    (finding,) = _found(folder, "unsupported-operand-value", _model(calls, image) + body)["findings"]
    named = [each["message"].split("'")[1] for each in finding["related"] if each["message"].startswith("called by")]
    assert (finding["count"], named) == (2, ["call1", "call2"])


G = "float[4,4] x, bool c"


@pytest.mark.parametrize(
    ("outputs", "body", "found"),
    [
        (  # written for another operator set: attributes and inputs are one fault
            "float[4,4] y",
            "y = Add<broadcast=1, axis=1>(x, x) z = Add<broadcast=1, axis=1>(x, x)",
            [(("unknown-operator-attribute", 4), "; 3 more faults have this cause")],
        ),
        (
            "float[4,2] v, int64[4,2] i",
            "k = Constant<value_ints=[2]>() v, i = TopK<axis=0>(x, k)",
            [(("contradictory-declared-shape", 2), "; 1 more output has this fault")],
        ),
        (
            "float[4,4] y",
            "y = If(c)<then_branch = t (float[4,4] p) => (q) { q = Relu(p) },"
            " else_branch = e (float[4,4] r) => (s) { s = Abs(r) }>",
            [(("mismatched-subgraph-signature", 2), "; 1 more subgraph has this fault")],
        ),
        (
            "float[] y, float[] z",
            "y = Relu(x) z = Abs(x)",
            [(("shapeless-graph-value", 2), "; 1 more output has this fault")],
        ),
        (  # other numbers are another fault
            "float[A,B] y, float[C,D] z",
            "a = Constant<value_ints=[5,2]>() b = Constant<value_ints=[7,2]>() y = Reshape(x, a) z = Reshape(x, b)",
            [(("unsupported-operand-value", 1), "[5, 2] has 10"), (("unsupported-operand-value", 1), "[7, 2] has 14")],
        ),
        (  # the typing error alone, and not that the Constant has no value
            "float[4,4] y",
            "y = l.F<alpha=1.0>(x)",
            [(("undeclared-attribute-reference", 1), "did you mean 'alpha'?")],
        ),
        (  # the call and the body name a parameter that is not declared
            "float[4,4] y",
            "y = l.F<alhpa=1.0>(x)",
            [(("unknown-call-attribute", 2), " 1 more fault has this cause")],
        ),
    ],
)
def test_one_cause_is_one_finding(outputs: str, body: str, found: list[tuple[tuple[str, int], str]]) -> None:
    function = """<domain: "l", opset_import: ["": 21]> F <alpha> (a) => (b) {
        k = Constant<value_float: float = @alhpa>() b = Mul(a, k) }"""
    imports = f'<ir_version: 10, opset_import: ["": 21, "l": 1]> g ({G}) => ({outputs})'
    text = f"{imports} {{ {body} }} {function if 'l.F' in body else ''}"
    proto = onnx.parser.parse_model(text)
    report = lint(proto.SerializeToString(), select="error")
    assert [(item.rule, item.count) for item in report.diagnostics] == [rule for rule, _ in found]
    assert [words in item.message for item, (_, words) in zip(report.diagnostics, found, strict=True)] == [True] * len(
        found
    )


def _annotations(count: int) -> str:
    return _model("", "".join(f'quantization_annotation {{ tensor_name: "lost{index}" }}\n' for index in range(count)))


def _stale_initializers(count: int) -> str:
    entries = "".join(
        f'value_info {{ name: "w{index}" {TYPE % 2} }} initializer {{ name: "w{index}" data_type: 1 float_data: 1 }}\n'
        for index in range(count)
    )
    return _model("", entries)


def _stale_constants(count: int) -> str:
    value = 'attribute { name: "value_float" type: FLOAT f: 1 }'
    nodes = "".join(f'node {{ op_type: "Constant" output: "v{index}" {value} }}\n' for index in range(count))
    return _model(nodes, "".join(f'value_info {{ name: "v{index}" {TYPE % 1} }}\n' for index in range(count)))


def _stale_types(count: int) -> str:
    stated = (TYPE % 2).replace("elem_type: 1", "elem_type: 10")
    entries = "".join(f'value_info {{ name: "v{index}" {stated} }}\n' for index in range(count))
    return _model(_nodes(count, lambda index: f"n{index}"), entries)


def _undefined_types(count: int) -> str:
    stated = (TYPE % 2).replace("elem_type: 1", "elem_type: 99")
    entries = "".join(f'value_info {{ name: "v{index}" {stated} }}\n' for index in range(count))
    return _model(_nodes(count, lambda index: f"n{index}"), entries)


def _pasted(count: int) -> str:
    return _model(2 * _nodes(count, lambda index: f"n{index}"))


def _pasted_initializers(count: int) -> str:
    held = "".join(f'initializer {{ name: "w{index}" data_type: 1 float_data: 1 }}\n' for index in range(count))
    return _model("", 2 * held)


OF_ONE_CAUSE = {
    "unknown-quantized-tensor": (_annotations, "annotation has", "annotations have"),
    "contradictory-value-info": (_stale_initializers, "value has", "values have"),
    "contradictory-declared-shape": (_stale_constants, "value has", "values have"),
    "contradictory-declared-type": (_stale_types, "value has", "values have"),
    "unknown-element-type": (_undefined_types, "value has", "values have"),
    "duplicate-definition": (_pasted, "node has", "nodes have"),
    "duplicate-initializer": (_pasted_initializers, "initializer has", "initializers have"),
}


@pytest.mark.parametrize("rule", OF_ONE_CAUSE)
@pytest.mark.parametrize("count", [1, 2, 40])
def test_findings_of_one_cause_are_one_in_json_and_sarif(folder, rule, count):
    make, one, several = OF_ONE_CAUSE[rule]
    found = _found(folder, rule, make(count))
    (finding,), (result,) = found["findings"], found["results"]
    named = {2: ": 'n1'", 40: ": 'n1', 'n2', 'n3', ..."} if one == "node has" else {2: "", 40: ""}
    others = {1: "", 2: f"; 1 more {one} this fault", 40: f"; 39 more {several} this fault"}[count]
    assert finding["message"].endswith(others + named.get(count, ""))
    assert (finding.get("count"), result.get("occurrenceCount")) == ((count, count) if count > 1 else (None, None))


@pytest.mark.parametrize("rule", OF_ONE_CAUSE)
def test_a_new_fault_of_a_known_cause_is_new_for_a_baseline(folder, rule):
    make, _, _ = OF_ONE_CAUSE[rule]
    _found(folder, rule, make(3), "--write-baseline", "b.json")
    assert _found(folder, rule, make(3), "--baseline", "b.json")["findings"] == []
    (finding,) = _found(folder, rule, make(4), "--baseline", "b.json")["findings"]
    assert "more" not in finding["message"]
