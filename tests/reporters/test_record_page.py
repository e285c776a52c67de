# SPDX-License-Identifier: Apache-2.0
from onnx_lint.reporters.record_page import graph_tables, record_lines
from onnx_lint.spec.operators.records import OperatorRecord, families, record_of


def _lines(**fields):
    return list(record_lines(OperatorRecord(**fields)))


def test_conditions_are_in_words():
    form = {"past !mode=fast": "b s", "rows": "", "past~query or size>0": "-", "else": None}
    assert _lines(inputs={"x": form}, cases=("rows or columns",))[1:] == [
        "input `x`: `[b s]` if the node has `past` and `mode` is not fast; a scalar if the kind is rows; "
        "must be left out if `past` has the type of `query` or `size` is above 0; any shape otherwise"
    ]


def test_nested_conditions_are_one_condition():
    form = {"quant=int": {"rows": "e ceil(h*bits/8)", "columns": "e"}, "else": {"rows": "", "else": "e ? *more"}}
    assert _lines(inputs={"x": form}, cases=("rows or columns",))[1:] == [
        "input `x`: `[e ceil(h*bits/8)]` if `quant` is int and the kind is rows; "
        "`[e]` if `quant` is int and the kind is columns; a scalar otherwise if the kind is rows; "
        "`[e ? *more]` otherwise"
    ]


def test_all_of_an_attribute_is_in_one_line():
    fields = {"attributes": {"k": "at least 1"}, "defaults": {"k": 4, "m": 0}, "advised": {"x": "a", "k": "one of 1 2"}}
    assert _lines(inputs={"x": "a b"}, **fields) == [
        "input `x`: `[a b]`",
        "required by the documentation, not by kernels, of `x`: `[a]`",
        "attribute `k`: at least 1; 4 if it is left out; 1 or 2, which the documentation requires, not kernels",
        "attribute `m`: 0 if it is left out",
    ]


def test_requirements_are_in_words():
    assert _lines(attributes={"k": "at least 1; multiple of n if !past", "rule": "with gated needs decay beta"}) == [
        "attribute `k`: at least 1; a multiple of `n` if the node lacks `past`",
        "attribute `rule`: gated requires `decay` and `beta`",
    ]


def test_one_element_and_one_output_are_singular():
    assert _lines(attributes={"k": "as many as 1 if n=1; as many as 2 if outputs=1; as many as n"}, lists={"l": 1}) == [
        "attribute `k`: 1 element if `n` is 1; 2 elements if the node has 1 output; `n` elements",
        "attribute `l`: 1 element",
    ]


def test_releases_are_in_words():
    assert _lines(since={"bits=8": "1.23.2", "B": "1.23.2"}, until={"!k=2 mixer=1": "", "k=3": "1.23.2"}) == [
        "needs ONNX Runtime 1.23.2: `bits` is 8",
        "ONNX Runtime before 1.23.2 does not compare the shape of `B`",
        "no kernel for CPUs of any release if `k` is not 2 and `mixer` is 1",
        "no kernel for CPUs after 1.23.2 if `k` is 3",
    ]
    assert _lines(since={"k=0 outputs=2": "1.32.0"}, failing={"!bias": "1.23.2", "w": ""}) == [
        "needs ONNX Runtime 1.32.0: `k` is 0 and the node has 2 outputs",
        "each run on CPUs up to 1.23.2 fails if the node lacks `bias`",
        "each run on CPUs of all releases fails if the node has `w`",
    ]
    assert _lines(patterns=("a", "b"), repeated="tensor scale") == [
        "regular expressions in the syntax of RE2: a b",
        "each group of the last input has: tensor scale",
    ]


def test_code_says_what_it_compares():
    assert _lines(computed="a.b", compared="all scales") == ["compared as a whole: all scales"]
    (line,) = _lines(computed="a.b")
    assert line.startswith("sizes that no line names")


def test_a_search_has_a_table_for_each_graph():
    found = list(graph_tables(record_of("BeamSearch")))
    assert [each.partition("\n")[0] for each in found] == [
        "#### `model_type` 0: `decoder` and `init_decoder`",
        "#### `model_type` 1: `encoder` with 3 inputs",
        "#### `model_type` 1: `encoder` with 2 inputs",
        "#### `model_type` 1: `decoder`",
        "#### `model_type` 2: `encoder`",
        "#### `model_type` 2: `decoder`",
    ]
    assert "| input 3 | `past_0` | T | `[2, any, stated, any, stated]` |" in found[0]
    assert "- inputs: one for each output, and 2, 3 or 5 more" in found[0]
    assert "- this form needs ONNX Runtime 1.23.2" in found[2]
    assert "| the next input, or missing | `encoder_input_ids` | int32 | any |" in found[3]
    assert (
        "- inputs if the graph has the input `past_sequence_length` and the graph has a node "
        "DecoderMaskedMultiHeadAttention or DecoderMaskedSelfAttention: those in the table, 4 for each layer, "
        "and 3 more"
    ) in found[3]
    assert "- outputs if attribute `decoder_output_cross_qk` is not 0: 1, and 3 for each layer" in found[5]


def test_every_record_has_a_page():
    for operator in families():
        record = record_of(operator)
        assert record is not None
        assert all(line.strip() for line in record_lines(record))
