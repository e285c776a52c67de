# SPDX-License-Identifier: Apache-2.0
"""Patterns that RE2 compiles, and patterns that it does not, with the verdict of ONNX Runtime, which has it."""

from __future__ import annotations

import onnx
import pytest
from support.project.each_case import each_case
from support.project.sampled import one_in

from onnx_lint.ir.operators.re2_pattern import pattern_fault

RIGHT = (
    "",
    "a|b",
    "|a",
    "(ab)*c+?",
    "(?:a)(?i)b(?i-s:c)",
    "(?P<name>a)",
    "(?<name>a)",
    "[]a]",
    "[^]a]",
    "[[:alpha:]_]+",
    r"[\d\-\]]",
    "[a-z][]-a][a-][-a][+--]",
    r"[\d-a\-9][\pL-+][9-\101-9][\x41-Z]",
    "[[:alpha:]-+]",
    r"[\x{41}-[:alpha:]\-\Qz]",
    "[[:][[]",
    r"[!-\-][\--a][\a-\f][\t-\r]",
    r"[\x{41}-\x{5a}\060-\071]",
    r"[\d-z]",
    "[a-z-9]",
    "[[:^word:][:ascii:]]",
    r"\d{2,3}\.\w+",
    r"\pN\p{Greek}\x{10FFFF}\x7F",
    r"\Q(+\E",
    "a{2,1000}",
    "a{,2}",
    "a{2",
    r"\A\ba\B\z",
    r"\123",
    "^$",
    "(|a)",
    "a$*",
    "^+",
    "a(?i)*",
    "a*(?i)*",
    r"a*\Q\E*",
    "x{,2}",
    "x{,2}{3}",
    "a{0,0}b{1,1}c{3,}",
    "(a{100}){10}",
    "((a{2,5}){2,5}){40}",
    "(a{500,}){2}",
    "(a{0}){1000}",
    "(a{1000}|b)(c{1000})",
    "(?)a(?-i)",
    r"\p{^Greek}\P{Lu}\pL\p{Any}\p{Yi}[\p{Kawi}\PZ]",
    r"\x{10FFFF}\_",
)
WRONG = {
    "[z-a]": "range 'z-a'",
    "[^9-0]": "range '9-0'",
    r"[\]b-a]": "range 'b-a'",
    r"[\x{5a}-\x{41}]": "range",
    r"[z-\x41]": "range",
    r"[\071-\060]": "range",
    r"[\r-\t]": "range",
    r"[a-\-]": "range",
    "[a-[:alpha:]]": "range 'a-['",
    "[]-A]": "range",
    "[[:alpha:]": "leaves a bracket open",
    r"[\Qab]": "escape",
    r"[a-\d]": "escape",
    r"ab\E": "escape",
    "[[:letter:]]": "class",
    "(?=a)b": "group",
    "(?!a)b": "group",
    "(?<=a)b": "group",
    "(?<!a)b": "group",
    "(?>a)": "group",
    "(?#a)": "group",
    r"(a)\1": "reference",
    r"\Za": "escape",
    r"\Gx": "escape",
    r"\8": "escape",
    "(ab": "leaves a parenthesis open",
    "ab)": "closes",
    "[ab": "leaves a bracket open",
    "a\\": "ends with a backslash",
    "a{2,1001}": "at most 1000",
    "a{1001}": "at most 1000",
    "*a": "of nothing",
    "(+a)": "of nothing",
    "a**": "of nothing",
    "a|*": "of nothing",
    r"[\b]": "escape",
    "a{2,1}": "less than its least",
    "a{5,4}?": "less than its least",
    "x{,2}{3,1}": "less than its least",
    "x{2}{3}": "of nothing",
    "(a{100}){11}": "of another one",
    "((a{2,5}){2,5}){50}": "of another one",
    "(a{500,}){3}": "of another one",
    "(?:b|(a{0,1000})*){2}": "of another one",
    r"\p{Foo}": "class",
    r"\p{^Foo}": "class",
    r"\p{greek}": "class",
    r"\p{LC}": "class",
    r"\p{}": "class",
    r"\p{L": "class",
    r"\p": "class",
    r"\pA": "class",
    r"[^\P{Foo}]": "class",
    r"\x1": "no character",
    r"\x{110000}": "no character",
    r"[\x{110000}]": "no character",
    "\\\u00e9": "escape",
    "(?i-)a": "group",
    r"\Q\E*": "of nothing",
}


@each_case("pattern", RIGHT)
def test_what_re2_compiles_has_no_fault(pattern):
    assert pattern_fault(pattern) is None


@each_case(("pattern", "words"), WRONG.items())
def test_what_re2_does_not_compile_has_a_fault(pattern, words):
    assert words in (pattern_fault(pattern) or "")


@one_in(5)
@pytest.mark.parametrize(
    ("begin", "part", "end"), [("(?", "i", ""), ("[", "[:", ""), ("a", "\\p{", ")"), ("a{", "1", "}")]
)
def test_a_long_pattern_has_a_fault_at_once(begin, part, end, step):
    assert pattern_fault(f"{begin}{part * (100_000 // step)}{end}") is not None


@pytest.mark.consumers
@pytest.mark.parametrize("pattern", [*RIGHT, *WRONG])
def test_the_verdict_is_that_of_onnxruntime(pattern):
    runtime = pytest.importorskip("onnxruntime", reason="pip install onnxruntime")
    texts = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.STRING, [1])
    matches = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.BOOL, [1])
    node = onnx.helper.make_node("RegexFullMatch", ["x"], ["y"], pattern=pattern)
    graph = onnx.helper.make_graph([node], "g", [texts], [matches])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=9)
    try:
        runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime has an exception of its own for each status
        if "regex" not in str(error).lower():
            raise
        compiles = False
    else:
        compiles = True
    assert compiles == (pattern_fault(pattern) is None)
