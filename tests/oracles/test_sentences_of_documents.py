# SPDX-License-Identifier: Apache-2.0
"""Sentences about other programs in `docs`, the README and the notes of clauses, each tried with the program.

tests/oracles/test_sentences_about_programs.py does the same for the pages of rules.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import numpy as np
import onnx
import onnx.checker
import onnx.parser
import onnx.version_converter
import pytest
from onnx import TensorProto, numpy_helper
from support.models.asked_programs import CHECKER, FULL_CHECK, ONNXRUNTIME, outcomes
from support.models.sentence_claims import PROGRAMS, Claim, sentences, untrue
from support.project.checkout import ROOT

from onnx_lint.spec.clauses import clauses

NOTES: Final = [
    Claim("VER-3b", "", "unknown-ir-version/an_ir_version_that_onnx_runtime_does_not_load", "+--"),
    Claim("MOD-3a", "refuse such a file", "missing-graph/a_file_of_functions", "---"),
    Claim(
        "MOD-6a", "accept such a model", "missing-opset-import/no_import_of_the_default_domain_that_nothing_uses", "+++"
    ),
    Claim("OPS-6", "accepts an unknown version, and", "unknown-opset-version/version_999", "++-"),
    Claim("OPS-6a", "refuses a model or a function", "unregistered-operator/a_second_version", "++-"),
    Claim(
        "OPS-6a",
        "refuses a model or a function",
        "unregistered-operator/a_second_version_in_a_function_that_nothing_calls",
        "++-",
    ),
    Claim("OPR-1b", "refuses the model", "unregistered-operator/a_misspelt_operator", "++-"),
    Claim(
        "FUN-14a",
        "ONNX Runtime refuses",
        "incompatible-opset-import/an_operator_that_the_import_of_the_model_does_not_have",
        "---",
    ),
    Claim("FUN-20b", "refuses it all the same", "unbound-required-input/a_branch_that_asks", "++-"),
    Claim(
        "NOD-8d",
        "onnx.checker or ONNX Runtime refuses",
        "incompatible-operand-shapes/a_depth_of_one_hot_in_two_dimensions",
        "+--",
    ),
    Claim("NOD-8f", "refuses the model", "unsupported-operand-value/a_division_of_integers_by_0", "++-"),
    # Their fixtures have operators of their own: test_searched_graphs.py asks with others.
    Claim("SUB-7d", "conditions of ONNX Runtime for a session", "mismatched-decoder/words_of_int64", "???"),
    Claim("SUB-7e", "makes a session with most", "mismatched-decoder/more_words_to_keep_than_there_are", "???"),
    Claim("FUN-5a", "ONNX Runtime refuses it", "unnamed-value/an_input_of_a_function", "++-"),
    Claim(
        "FUN-5b", "refuses the function", "duplicate-function-parameter/an_output_is_an_input_for_onnx_runtime", "++-"
    ),
    Claim("FUN-15", "refuses it", "empty-function/a_function_hands_its_input_through_without_a_node", "++-"),
    Claim("VI-6a", "with full_check", "contradictory-declared-shape/value_info_of_another_size", "+-+"),
    Claim("TEN-1", "with full_check", "unknown-tensor-element-type/raw_data_is_of_an_unknown_type", "+--"),
    Claim("INI-4", "loads such models", "initializer-without-input/ir_version_3", "--+"),
    Claim("NAM-4", "refuses duplicates", "duplicate-node-name/two_nodes_share_a_name", "++-"),
    Claim("NAM-4", "unless all but one", "duplicate-node-name/a_constant_after_a_node_of_its_name", "+++"),
    Claim(
        "NOD-3a",
        "refuses the longer one",
        "aliased-default-domain/two_nodes_of_the_default_domain_by_its_other_name",
        "--+",
    ),
    Claim(
        "NOD-3b",
        "in a function that is called",
        "aliased-default-domain/a_node_of_a_function_with_the_other_name",
        "---",
    ),
    Claim("SUB-8", "refuse it", "outer-scope-output/a_branch_returns_an_outer_value", "---"),
    Claim("ATT-14", "refuses it", "incomplete-type/an_empty_type_in_an_attribute", "++-"),
    Claim("TYP-8", "an optional of an optional", "unsupported-optional-element/an_optional_of_an_optional", "++-"),
    Claim("SHP-6a", "loads the model", "unsatisfiable-dimension-variable/two_sizes_through_nodes", "+++"),
    Claim("SHP-7", "loads such a model", "contradictory-declared-shape/a_sequence_of_two_ranks", "+++"),
    Claim("TEN-13", "eight 4-bit elements", "mispacked-sub-byte-data/uint4_has_eight_elements_an_entry", "++-"),
    Claim("TEN-17", "refuses segments", "invalid-segment/a_segment_reaches_beyond_the_tensor", "---"),
    Claim("SPA-3a", "requires it", "malformed-sparse-indices/the_indices_are_int32", "--+"),
    Claim("SPA-6", "onnx.checker requires it", "degenerate-sparse-shape/the_dense_shape_has_no_dimensions", "--+"),
    Claim("SPA-6", "ONNX Runtime accepts", "degenerate-sparse-shape/the_dense_shape_has_a_dimension_of_zero", "--+"),
    Claim("SPA-6a", "require it", "degenerate-sparse-shape/the_dense_shape_has_a_negative_dimension", "---"),
    Claim(
        "SPA-6b",
        "ONNX Runtime requires it",
        "degenerate-sparse-shape/the_dense_shape_has_more_elements_than_64_bits_hold",
        "++-",
    ),
]
"""What notes of clauses say, and the fixtures that prove it."""

HEADER: Final = '<ir_version: 8, opset_import: ["": %d]>'
ELU: Final = HEADER + " g (double[2] x) => (double[2] y) { y = Elu(x) }"

MODELS: Final = [
    ("targets", "runs `Elu` of double in operator set 18", ELU % 18, "+++"),
    ("targets", "refuses it in 17 and 19", ELU % 17, "++-"),
    ("targets", "refuses it in 17 and 19", ELU % 19, "++-"),
    (
        "coming_from_onnx_checker",
        "raises an exception for the first fault",
        HEADER % 17 + " g (float[2] x) => (float[2] y) { y = Missing(x) }",
        "---",
    ),
    (
        "coming_from_onnx_checker",
        "two imports of the default domain",
        '<ir_version: 8, opset_import: ["": 11, "ai.onnx": 13]>'
        " g (float[2,1] x) => (float[2] y) <int64[1] a = {1}> { y = Squeeze(x, a) }",
        "--+",
    ),
    (
        "coming_from_onnx_checker",
        "a call that leaves out outputs",
        '<ir_version: 8, opset_import: ["": 17, "f": 1]> g (float[2] x) => (float[2] y) { y = f.F(x) }'
        ' <domain: "f", opset_import: ["": 17]> F (a) => (b, c) { b = Relu(a) c = Neg(a) }',
        "+--",
    ),
    (
        "conformance",
        "it may run a model that violates a requirement",
        HEADER % 17 + " g (float[2] x) => (float[3] y) { y = Relu(x) }",
        "+-+",
    ),
    (
        "conformance",
        "ONNX Runtime does this for operators without a kernel",
        HEADER % 17 + " g (double[2] x) => (double[2] y) { y = Erf(x) }",
        "++-",
    ),
]
"""A page, words of it, a model in ONNX's textual syntax, and the answers."""

TRIED_ELSEWHERE: Final = [
    ("coming_from_onnx_checker", "Exit code 0 means", "test_gate_of_the_checker.py"),
    ("coming_from_onnx_checker", "A test runs this command", "test_gate_of_the_checker.py"),
    ("configuration", "What they refuse in some models only", "test_refusals.py"),
    ("configuration", "does not read data behind links", "test_sentences_of_documents.py"),
    ("common_questions", "use `onnx.version_converter`", "test_sentences_of_documents.py"),
    ("common_questions", "save_as_external_data=True", "test_sentences_of_documents.py"),
    ("design", "The shapes of ONNX Runtime's own operators", "test_runtime_requirements.py"),
    ("design", "There onnx-lint reports an error only if", "test_runtime_requirements.py"),
    ("faults_of_onnx", "A test compares the two over all fixtures", "test_gate_of_the_checker.py"),
    ("faults_of_onnx", "", "test_faults_of_onnx.py"),
    ("fixing", "onnx.save(onnx.load(", "test_sentences_of_documents.py"),
    ("shapes", "computes the padding without the dilations", "test_sentences_of_documents.py"),
    ("shapes", "With empty inputs, ONNX Runtime returns other shapes", "test_sentences_of_documents.py"),
    ("shapes", "makes each variable or unknown dimension", "test_sentences_of_documents.py"),
    ("shapes", "removes the axis nevertheless", "test_sentences_of_documents.py"),
    ("shapes", "departs from the descriptions", "test_sentences_of_documents.py"),
    ("shapes", "returns `[1, ?]`, as NumPy did", "test_sentences_of_documents.py"),
    ("targets", "Only a call in the main graph of a function", "test_refusals.py"),
    ("targets", "since the session fails without a library", "test_refusals.py"),
    ("targets", "The operators that ONNX Runtime defines in the default domain", "test_refusals.py"),
    ("targets", "ONNX Runtime inserts Casts", "test_refusals.py"),
    ("targets", "*In nodes of ONNX Runtime's domains*", "test_asked_programs.py"),
    ("targets", "ONNX Runtime rewrites a model before", "test_refusals.py"),
]
"""A page, words of it, and the module of this folder that tries them. Empty words: all sentences of the page."""

OF_ONNX_LINT: Final = [
    ("CONTRIBUTING", "CI runs `documentation`"),
    ("coming_from_onnx_checker", "| onnx.checker | onnx-lint |"),
    ("coming_from_onnx_checker", "# Coming from onnx.checker"),
    ("coming_from_onnx_checker", "add what the two calls are known to reject"),
    ("coming_from_onnx_checker", "`onnx.checker` is `check_model(path)`"),
    ("coming_from_onnx_checker", "turns violations of ONNX that `check_model` does not look for into warnings"),
    ("common_questions", "onnx-lint knows the operators"),
    ("configuration", "must accept the model"),
    ("configuration", "What `onnx.checker` or the loader of ONNX Runtime is known to reject"),
    ("conformance", "`onnx` is `onnx.checker.check_model`"),
    ("design", "`full_check` is `onnx.checker.check_model"),
    ("design", "have a record each"),
    ("fuzzing", "It makes small complete models"),
    ("index", "You know which release"),
    ("index", "You use `onnx.checker` today"),
    ("library", "`torch.onnx.export` returns a program"),
    ("library", '`["onnx.checker", "ir=10"]`'),
    ("opset-schema", "onnx-lint knows the operators"),
    ("opset-schema", "a file adds operators to the built-in ones"),
    ("targets", "lists the releases that are proven"),
    ("index", "*Consumer*: a program that reads models"),
    ("targets", "asks ONNX Runtime: all load"),
    ("targets", "the nodes are judged by the version that the release assumes"),
    ("targets", "CoreML and DirectML are no targets"),
    ("targets", "## ONNX Runtime"),
]
"""Words of sentences that name a program and say what onnx-lint, its tests or its user do."""

MEASURED: Final = [
    ("targets", "whose shape ONNX Runtime does not infer"),
    ("design", "| model | file | onnx-lint |"),
    ("fixing", "ONNX Runtime must compute the same"),
    ("hygiene", ""),
]
"""Words of sentences with figures that were measured once, with their date."""


def _pages() -> dict[str, str]:
    files = [*(ROOT / "docs").glob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]
    return {path.stem: path.read_text(encoding="utf-8") for path in files}


def _notes() -> dict[str, str]:
    return {name: clause.note for name, clause in clauses().items() if clause.note}


def _about_programs(texts: dict[str, str]) -> list[tuple[str, str]]:
    return [(name, each) for name, text in texts.items() for each in sentences(text) if re.search(PROGRAMS, each)]


def test_each_sentence_of_a_note_is_tried() -> None:
    rows = [(claim.holder, claim.words) for claim in NOTES if claim.words]
    found = _about_programs(_notes())
    assert [each for each in found if not any(each[0] == name and words in each[1] for name, words in rows)] == []
    assert [row for row in rows if not any(row[0] == name and row[1] in text for name, text in found)] == []


def test_each_sentence_of_a_page_is_tried() -> None:
    rows = [
        *((page, words) for page, words, _, _ in MODELS),
        *((page, words) for page, words, _ in TRIED_ELSEWHERE),
        *OF_ONNX_LINT,
        *MEASURED,
    ]
    found = _about_programs(_pages())
    assert [each for each in found if not any(each[0] == page and words in each[1] for page, words in rows)] == []
    assert [row for row in rows if not any(row[0] == page and row[1] in text for page, text in found)] == []


def test_the_modules_that_try_them_are_there() -> None:
    assert {module for _, _, module in TRIED_ELSEWHERE} <= {path.name for path in Path(__file__).parent.glob("*.py")}


@pytest.mark.slow
@pytest.mark.parametrize(("position", "program"), [(0, CHECKER), (1, FULL_CHECK)])
def test_onnx_does_as_notes_and_pages_say(tmp_path: Path, position: int, program: str) -> None:
    if not onnx.__version__.startswith("1.23"):
        pytest.skip(f"the texts were compared with onnx 1.23, not with {onnx.__version__}")
    assert untrue(NOTES, tmp_path, position, program) == []
    assert _wrong(tmp_path, position, program) == []


@pytest.mark.consumers
def test_onnx_runtime_does_as_notes_and_pages_say(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="no part of the development packages")
    if not onnxruntime.__version__.startswith("1.32"):
        pytest.skip(f"the texts were compared with onnxruntime 1.32, not with {onnxruntime.__version__}")
    assert untrue(NOTES, tmp_path, 2, ONNXRUNTIME) == []
    assert _wrong(tmp_path, 2, ONNXRUNTIME) == []


def _wrong(folder: Path, position: int, program: str) -> list[str]:
    files = {}
    for index, (page, words, text, answers) in enumerate(MODELS):
        path = folder / f"model_{index}.onnx"
        path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
        files[path] = f"{page}: {words}", answers[position] == "+"
    reasons = outcomes(files, program)
    return [f"{what}: {reasons[path]}" for path, (what, accepts) in files.items() if accepts != (reasons[path] is None)]


@pytest.mark.slow
def test_the_checker_reads_no_data_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.bin").write_bytes(bytes(8))
    (tmp_path / "w.bin").symlink_to("real.bin")
    model = onnx.parser.parse_model(HEADER % 17 + " g (float[2] x) => (float[2] y) { y = Add(x, w) }")
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="w.bin")
    model.graph.initializer.append(tensor)
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    for program in (CHECKER, FULL_CHECK):
        assert outcomes([path], program)[path] is not None
    tensor = model.graph.initializer[0]
    tensor.external_data[0].value = "real.bin"
    path.write_bytes(model.SerializeToString())
    for program in (CHECKER, FULL_CHECK):
        assert outcomes([path], program)[path] is None


def test_onnx_converts_versions_and_forms_and_saves_external_data(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(HEADER % 13 + " g (float[2000] x) => (float[2000] y) { y = Add(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(np.zeros(2000, "f4"), "w"))
    assert onnx.version_converter.convert_version(model, 17).opset_import[0].version == 17
    onnx.save(model, tmp_path / "m.textproto")
    onnx.save(onnx.load(tmp_path / "m.textproto"), tmp_path / "m.onnx")
    assert onnx.load(tmp_path / "m.onnx") == model
    onnx.save(model, tmp_path / "e.onnx", save_as_external_data=True)
    found = onnx.load(tmp_path / "e.onnx", load_external_data=False)
    assert found.graph.initializer[0].data_location == TensorProto.EXTERNAL


@pytest.mark.consumers
def test_onnx_runtime_pads_without_the_dilations(tmp_path: Path) -> None:
    """A pool of auto_pad SAME_UPPER keeps the size by the text."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="no part of the development packages")
    pool = 'MaxPool <kernel_shape = [3], auto_pad = "SAME_UPPER", dilations = [2]> (x)'
    model = onnx.parser.parse_model(HEADER % 17 + f" g (float[1,1,10] x) => (float[1,1,n] y) {{ y = {pool} }}")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": np.ones((1, 1, 10), "f4")})
    assert found.shape[2] < 10


_EMPTY_INPUTS: Final = [
    ("(float[n,m] x) => (float[a,b] y) <int64[1] k = {-1}> "
     "{ s = Shape<start=1>(x) r = Concat<axis=0>(s, k) y = Reshape(x, r) }", {"x": (2, 0)}, (2, 0)),
    ("(float[a,b] e, float[n,m] x) => (float[c,d] y) { y = Concat<axis=1>(e, x) }",
     {"e": (1, 0), "x": (3, 4)}, (3, 4)),
    ("(float[a,b] e, float[n,m] x) => (float[c,d] y) { y = Concat<axis=1>(e, x) }",
     {"e": (1, 0), "x": (3, 0)}, (1, 0)),
    ("(float[n,m] x) => (float[a,b,c] y) <int64 k = {0}, bool t = {1}> { y = Loop(k, t) <body = f (int64 i, bool g) => "
     "(bool h, float[v,m] z) { h = Identity(g) z = Identity(x) }> }", {"x": (2, 3)}, (0, 0, 0)),
    ("(float[n,m] x) => (float[a] y) <int64 k = {0}, bool t = {1}> { y = Loop(k, t) <body = f (int64 i, bool g) => "
     "(bool h, float z) { h = Identity(g) z = ReduceSum<keepdims=0>(x) }> }", {"x": (2, 3)}, (0,)),
    ("(float[n,m] x) => (float[m] y) <int64 s = {1}, int64 k = {0}> "
     "{ q = SplitToSequence<axis=0, keepdims=0>(x, s) y = SequenceAt(q, k) }", {"x": (2, 3)}, (3,)),
    ("(float[n,m] x) => (float[m] y) <int64 s = {3}, int64 k = {0}> "
     "{ q = SplitToSequence<axis=0, keepdims=0>(x, s) y = SequenceAt(q, k) }", {"x": (1, 3)}, (3,)),
    ("(float x) => (int64[a,b] y) { y = NonZero(x) }", {"x": ()}, (1, 1)),
]  # fmt: skip
"""The graphs of docs/shapes.md, the sizes of their inputs, and those that ONNX Runtime returns."""


@pytest.mark.consumers
@pytest.mark.parametrize(("graph", "inputs", "expected"), _EMPTY_INPUTS)
def test_onnx_runtime_returns_these_shapes_of_empty_inputs(
    graph: str, inputs: dict[str, tuple[int, ...]], expected: tuple[int, ...]
) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="no part of the development packages")
    model = onnx.parser.parse_model(HEADER % 17 + f" g {graph}")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {name: np.ones(shape, "f4") for name, shape in inputs.items()})
    assert found.shape == expected


@pytest.mark.consumers
def test_onnx_runtime_fails_where_only_the_last_part_of_a_split_has_one_row() -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="no part of the development packages")
    graph = "g (float[n,m] x) => (seq(float[a,m]) y) <int64 s = {3}> { y = SplitToSequence<keepdims=0>(x, s) }"
    model = onnx.parser.parse_model(HEADER % 17 + graph)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    with pytest.raises(Exception, match="SplitToSequence"):
        session.run(None, {"x": np.ones((7, 2), "f4")})
