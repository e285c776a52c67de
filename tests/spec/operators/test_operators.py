# SPDX-License-Identifier: Apache-2.0
"""Operator signatures: what the data say, that they are onnx's own, how fast they come, and schema files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.project.checkout import ROOT
from support.project.each_case import each_case

from onnx_lint.spec import releases
from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES
from onnx_lint.spec.operators import (
    ATTRIBUTE_TYPE_CODES,
    UNLIMITED,
    AttributeSchema,
    OperatorSchema,
    OperatorSchemas,
    Parameter,
    SchemaFileError,
    domains_of,
    find,
    known_domains,
    load_schema_file,
    onnxruntime_default_domain,
    operator_names,
    sources,
    versions,
)
from onnx_lint.spec.operators.history import REMOVED_EXPERIMENTAL, REPLACEMENTS
from onnx_lint.spec.operators.schema_file import is_type_string

PACKAGE = ROOT / "onnx_lint" / "spec" / "operators"
DOCS = ROOT / "docs"

# Signatures that onnx corrected after their release: an older onnx differs from the data here.
CORRECTED = {("", "Erf", 13)}


def signature(op_type: str, version: int, domain: str = "") -> OperatorSchema:
    schema = find(domain, op_type, version)
    assert schema is not None
    return schema


# --- The data against the packages they come from


def test_generating_again_gives_the_same_onnx_file():
    onnx = pytest.importorskip("onnx")
    if onnx.__version__ != sources()["onnx"]:
        pytest.skip(f"the data are of onnx {sources()['onnx']}, installed is {onnx.__version__}")
    from tools import generate_operators as generate

    assert generate.onnx_file() == (PACKAGE / "onnx.jsonl").read_bytes()


def test_generating_again_gives_the_same_onnxruntime_file():
    runtime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    if {"onnx": onnx.__version__, "onnxruntime": runtime.__version__} != sources():
        pytest.skip(f"the data are of {dict(sources())}, others are installed")
    from tools import generate_operators as generate

    assert generate.onnxruntime_file() == (PACKAGE / "onnxruntime.jsonl").read_bytes()


def test_every_signature_of_the_installed_onnx_is_ours():
    onnx = pytest.importorskip("onnx")
    get_all = pytest.importorskip("onnx.defs").get_all_schemas_with_history

    def parameters(formal):
        return [(p.name, p.type_str, p.option.name.lower(), p.is_homogeneous, p.min_arity) for p in formal]

    different = set()
    for theirs in get_all():
        key = (theirs.domain, theirs.name, theirs.since_version)
        ours = find(*key)
        expected = (
            theirs.since_version,
            parameters(theirs.inputs),
            parameters(theirs.outputs),
            {c.type_param_str: frozenset(c.allowed_type_strs) for c in theirs.type_constraints},
            {a.name: (a.type.name, a.required, default_of(a)) for a in theirs.attributes.values()},
            (theirs.min_input, theirs.max_input, theirs.min_output, theirs.max_output),
            theirs.deprecated,
            theirs.support_level.name == "EXPERIMENTAL",
            theirs.has_function or theirs.has_context_dependent_function,
        )
        found = ours and (
            ours.since_version,
            [(p.name, p.type, p.option.value, p.homogeneous, p.min_arity) for p in ours.inputs],
            [(p.name, p.type, p.option.value, p.homogeneous, p.min_arity) for p in ours.outputs],
            dict(ours.type_constraints),
            {a.name: (a.type, a.required, single(a.default)) for a in ours.attributes.values()},
            (ours.min_input, ours.max_input, ours.min_output, ours.max_output),
            ours.deprecated,
            ours.experimental,
            ours.has_function_body,
        )
        if found != expected:
            different.add(key)
    assert different == (set() if onnx.__version__ == sources()["onnx"] else different & CORRECTED)


def default_of(attribute):
    """The default value as onnx has it; None if there is none."""
    import onnx.helper

    if not attribute.default_value.type:
        return None
    value = onnx.helper.get_attribute_value(attribute.default_value)
    if isinstance(value, list):
        return tuple(item.decode() if isinstance(item, bytes) else item for item in value)
    return value.decode() if isinstance(value, bytes) else value


def single(default):
    """A default value with the numbers that single precision makes of it."""
    import numpy as np

    return float(np.float32(default)) if isinstance(default, float) else default


def test_every_signature_can_be_built_and_is_consistent():
    for domain in known_domains():
        for name in operator_names(domain):
            for version in versions(domain, name):
                schema = signature(name, version, domain)
                assert (schema.domain, schema.name, schema.since_version) == (domain, name, version)
                for parameter in schema.inputs + schema.outputs:
                    assert parameter.types
                    assert all(is_type_string(text) for text in parameter.types), parameter
                    assert parameter.types == schema.type_constraints.get(parameter.type, frozenset({parameter.type}))
                assert all(a.type in ATTRIBUTE_TYPE_CODES for a in schema.attributes.values())


def test_every_deprecated_signature_of_onnx_has_a_replacement():
    deprecated = {
        (domain, name): version
        for domain in known_domains()
        for name in operator_names(domain)
        for version in versions(domain, name)
        if signature(name, version, domain).deprecated
    }
    assert deprecated == {key: replacement.deprecated_since for key, replacement in REPLACEMENTS.items()}
    for (domain, _), replacement in REPLACEMENTS.items():
        assert replacement.since_version in versions(domain, replacement.op_type)
        assert not signature(replacement.op_type, replacement.since_version, domain).deprecated


def test_element_types_stand_in_the_order_of_their_numbers():
    onnx = pytest.importorskip("onnx")
    theirs = {number: name.lower() for name, number in onnx.TensorProto.DataType.items() if number}
    ours = dict(enumerate(ELEMENT_TYPE_NAMES, start=1))
    assert {number: ours[number] for number in theirs} == theirs


# --- Facts from the operators' pages


def test_versions_and_binding():
    assert versions("", "Resize") == (10, 11, 13, 18, 19)
    assert versions("ai.onnx", "Resize") == (10, 11, 13, 18, 19)
    bound = {version: find("", "Resize", version) for version in (9, 10, 12, 13, 17, 18, 28, 999)}
    since = {version: schema and schema.since_version for version, schema in bound.items()}
    assert since == {9: None, 10: 10, 12: 11, 13: 13, 17: 13, 18: 18, 28: 19, 999: 19}
    assert find("ai.onnx", "Resize", 13) is find("", "Resize", 13)


@pytest.mark.parametrize(
    ("domain", "op_type"),
    [("", "resize"), ("", ""), ("", 'Add",[1'), ("com.example", "Add"), ("ai.onnx.ml", "Add"), ("@", "x\n")],
)
def test_unknown_operators(domain, op_type):
    assert find(domain, op_type, 13) is None
    assert versions(domain, op_type) == ()


def test_batch_normalization_allows_only_some_counts_of_outputs():
    allowed = {
        version: [n for n in range(8) if signature("BatchNormalization", version).allows_output_count(n)]
        for version in versions("", "BatchNormalization")
    }
    assert allowed == {1: [1, 5], 6: [1, 5], 7: [1, 5], 9: [1, 5], 14: [1, 3], 15: [1, 3]}


def test_parameters_by_index():
    loop = signature("Loop", 13)
    assert [p and p.name for p in map(loop.input_at, (-1, 0, 1, 2, 7))] == [
        None,
        "M",
        "cond",
        "v_initial",
        "v_initial",
    ]
    assert (loop.inputs[2].homogeneous, loop.inputs[2].min_arity) == (False, 0)
    assert [p and p.name for p in map(signature("Add", 13).output_at, (0, 1))] == ["C", None]


def test_names_of_a_version():
    assert set(operator_names("", 17)) - set(operator_names("", 16)) == {
        "BlackmanWindow",
        "DFT",
        "HammingWindow",
        "HannWindow",
        "LayerNormalization",
        "MelWeightMatrix",
        "STFT",
        "SequenceMap",
    }
    assert operator_names("ai.onnx", 13) == operator_names("", 13)
    assert operator_names("com.example") == ()


def test_domains():
    assert domains_of("TreeEnsemble") == ("ai.onnx.ml",)
    assert domains_of("Adam") == ("ai.onnx.preview.training",)
    assert domains_of("FusedConv") == ("com.microsoft",)
    assert domains_of("NoSuchOperator") == ()
    assert set(known_domains()) == {*releases.NEWEST_OPSET, "com.microsoft", "com.microsoft.nchwc"}


def test_contributed_operators_have_no_known_defaults():
    gelu = signature("BiasGelu", 1, "com.microsoft")
    assert ([p.name for p in gelu.inputs], gelu.has_default_values) == (["A", "B"], False)
    # Every argument of EPContext may be left out, which only the least number of inputs shows.
    assert (signature("EPContext", 1, "com.microsoft").min_input, signature("Conv", 11).has_default_values) == (
        0,
        True,
    )


def test_removed_experimental_operators():
    assert set(REMOVED_EXPERIMENTAL) == {
        "ATen",
        "Affine",
        "ConstantFill",
        "Crop",
        "DynamicSlice",
        "GRUUnit",
        "GivenTensorFill",
        "ImageScaler",
        "ParametricSoftplus",
        "Scale",
        "ScaledTanh",
    }
    assert not any(versions("", name) for name in REMOVED_EXPERIMENTAL)
    assert {"Affine", "SimplifiedLayerNormalization"} <= onnxruntime_default_domain()


@each_case(
    ("text", "is_type"),
    [
        ("tensor(float)", True),
        ("seq(map(string, float))", True),
        ("map(int64, tensor(float))", True),
        ("optional(seq(tensor(uint4)))", True),
        ("sparse_tensor(double)", True),
        ("tensor(FLOAT)", False),
        ("tensor(float", False),
        ("seq(float)", False),
        ("map(float, int64)", False),
        ("map(int64,float)", False),
        ("T", False),
        ("", False),
    ],
)
def test_type_strings(text, is_type):
    assert is_type_string(text) is is_type


# --- Releases


def test_releases_are_those_of_the_installed_onnx():
    helper = pytest.importorskip("onnx.helper")
    ours = [
        (r.onnx, r.ir_version, r.ai_onnx, r.ai_onnx_ml, *([r.ai_onnx_training] if r.ai_onnx_training else []))
        for r in releases.RELEASES
    ]
    assert ours[: len(helper.VERSION_TABLE)] == helper.VERSION_TABLE


def test_newest_versions():
    assert releases.NEWEST_IR_VERSION == 14
    assert releases.NEWEST_OPSET == {
        "": 28,
        "ai.onnx.ml": 5,
        "ai.onnx.training": 1,
        "ai.onnx.preview.training": 1,
        "ai.onnx.preview": 1,
    }


def test_opsets_and_ir_versions():
    # The table: 1.12 brought operator set 17 with IR version 8, 1.1 operator set 5 (and so 2 to 4) with 3.
    expected = {("", 17): 8, ("ai.onnx", 17): 8, ("", 3): 3, ("ai.onnx.ml", 5): 10, ("", 29): None, ("x", 1): None}
    assert {key: (found := releases.release_of_opset(*key)) and found.ir_version for key in expected} == expected
    release = releases.release_of_ir_version(7)
    assert release is not None
    assert release.onnx == "1.7.0"


# --- Loading


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_thirty_lookups_parse_thirty_lines():
    code = (
        "from onnx_lint.spec.operators import find\n"
        "from onnx_lint.spec.operators.store import DataFile, ONNX\n"
        "names = 'Conv Relu MaxPool Add Mul MatMul Gemm Reshape Transpose Concat Slice Gather Unsqueeze Squeeze "
        "Cast Shape Constant ConstantOfShape Softmax LayerNormalization Resize Split Pad ReduceMean Sigmoid Div "
        "Sub Pow Sqrt If'.split()\n"
        "assert len([find('', name, 18) for name in names]) == 30\n"
        "print(len(ONNX._rows))"
    )
    assert run(code) == "30"


def test_nothing_is_read_by_the_import_and_onnx_is_not_needed():
    code = (
        "import sys; import onnx_lint.spec.operators as o; from onnx_lint.spec.operators.store import ONNX\n"
        "print('_lines' in vars(ONNX), o.find('', 'Add', 13).since_version, 'onnx' in sys.modules,\n"
        "      'onnxruntime' in sys.modules)"
    )
    assert run(code) == "False 13 False False"


def test_data_stay_small():
    sizes = sum(path.stat().st_size for path in PACKAGE.glob("*.jsonl"))
    assert sizes < 400_000


# --- Schema files

MINIMAL = {"format": 1, "domain": "com.example", "operators": []}
OPERATOR = {
    "name": "Op",
    "since_version": 1,
    "inputs": [{"name": "x", "type": "T"}],
    "outputs": [{"name": "y", "type": "tensor(float)"}],
    "attributes": [{"name": "a", "type": "FLOAT", "default": 1}],
    "type_constraints": {"T": ["tensor(float)"]},
}


def written(tmp_path, document) -> Path:
    path = tmp_path / "schema.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def test_example_file():
    schemas = OperatorSchemas([load_schema_file(DOCS / "opset-schema.example.json")])
    domain = "com.example.vision"
    assert schemas.known_domains() == (*known_domains(), domain)
    assert schemas.versions(domain, "CropAndResize") == (1, 2)
    assert schemas.operator_names(domain, 1) == ("CropAndResize", "Probe")
    assert schemas.domains_of("Probe") == (domain,)
    images = frozenset({"tensor(float16)", "tensor(float)", "tensor(uint8)"})
    assert schemas.find(domain, "CropAndResize", 7) == OperatorSchema(
        domain=domain,
        name="CropAndResize",
        since_version=2,
        inputs=(
            Parameter("image", "T", images, "T"),
            Parameter("boxes", "tensor(float)", frozenset({"tensor(float)"})),
        ),
        outputs=(Parameter("crops", "T", images, "T"),),
        attributes={
            "size": AttributeSchema("size", "INTS", required=True),
            "mode": AttributeSchema("mode", "STRING", default="linear"),
            "extrapolation_value": AttributeSchema("extrapolation_value", "FLOAT", default=0.0),
        },
        type_constraints={"T": images},
        min_input=2,
        max_input=2,
        min_output=1,
        max_output=1,
    )
    probe = schemas.find(domain, "Probe", 1)
    assert probe is not None
    assert (probe.min_input, probe.max_input, probe.output_counts) == (0, UNLIMITED, frozenset({1, 3}))
    assert len(probe.type_constraints["V"]) == 2 * len(ELEMENT_TYPE_NAMES)
    assert schemas.find("", "Add", 13) == find("", "Add", 13)


def test_json_schema_accepts_the_example():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((DOCS / "opset-schema.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    example = json.loads((DOCS / "opset-schema.example.json").read_text(encoding="utf-8"))
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(example)) == []


def test_a_signature_is_one_object_for_all_operator_sets_that_have_it():
    """What was found out about nodes of a signature then holds for models that import any of these sets."""
    found = {number: signature("Shape", number) for number in (13, 14, 15, 18, 19)}
    assert found[13] is found[14]
    assert found[15] is found[18]
    assert [found[number].since_version for number in (14, 18, 19)] == [13, 15, 19]
    assert OperatorSchemas().find("ai.onnx", "Shape", 18) is found[18]


def test_a_file_overrides_a_runtime_operator(tmp_path):
    document = MINIMAL | {"domain": "com.microsoft", "operators": [OPERATOR | {"name": "Gelu"}]}
    schemas = OperatorSchemas([load_schema_file(written(tmp_path, document))])
    overridden = schemas.find("com.microsoft", "Gelu", 1)
    assert overridden is not None
    assert list(overridden.attributes) == ["a"]
    assert schemas.find("com.microsoft", "BiasGelu", 1) == find("com.microsoft", "BiasGelu", 1)
    assert list(signature("Gelu", 1, "com.microsoft").attributes) == []


def test_two_files_may_not_describe_one_operator(tmp_path):
    document = MINIMAL | {"operators": [OPERATOR]}
    files = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        files.append(load_schema_file(written(tmp_path / name, document)))
    with pytest.raises(SchemaFileError) as caught:
        OperatorSchemas(files)
    assert caught.value.reason == (
        f"operator 'Op' of domain 'com.example' is already described by {tmp_path / 'first' / 'schema.json'}"
    )


def faulty(**changes):
    """A document with one operator, changed."""
    return MINIMAL | {"operators": [OPERATOR | changes]}


# Document, place and reason; the last column says whether the JSON Schema sees the fault as well.
FAULTS = {
    "not_json": ("{", "line 1, column 2", "not JSON: Expecting property name enclosed in double quotes", None),
    "nan": ('{"format": NaN}', "", "NaN is not JSON", None),
    "key_twice": ('{"format": 1, "format": 1}', "", "key 'format' occurs twice", None),
    "too_deep": ("[" * 200_000, "", "nested too deep", None),
    "no_object": ([], "", "an array where an object is expected", True),
    "unknown_key": (
        {"format": 1, "domian": "x", "operators": []},
        "",
        "unknown key 'domian'; did you mean 'domain'?",
        True,
    ),
    "missing_key": ({"format": 1, "operators": []}, "", "key 'domain' is missing", True),
    "format": (MINIMAL | {"format": 2}, "format", "format 2 is not known, only 1", True),
    "boolean_format": (MINIMAL | {"format": True}, "format", "true or false where an integer is expected", True),
    "onnx_domain": (
        MINIMAL | {"domain": "ai.onnx"},
        "domain",
        "domain 'ai.onnx' belongs to ONNX itself and cannot be redefined",
        True,
    ),
    "operators": (MINIMAL | {"operators": {}}, "operators", "an object where an array is expected", True),
    "operator": (MINIMAL | {"operators": ["Op"]}, "operators[0]", "a string where an object is expected", True),
    "operator_key": (
        faulty(atributes=[]),
        "operators[0]",
        "unknown key 'atributes'; did you mean 'attributes'?",
        True,
    ),
    "version": (faulty(since_version=0), "operators[0].since_version", "0 is less than 1", True),
    "name": (faulty(name=""), "operators[0].name", "the name is empty", True),
    "twice": (
        MINIMAL | {"operators": [OPERATOR, OPERATOR]},
        "operators[1]",
        "operator 'Op' is described twice for version 1",
        False,
    ),
    "variable": (
        faulty(inputs=[{"name": "x", "type": "T"}, {"name": "z", "type": "T2"}]),
        "operators[0].inputs[1].type",
        "type variable 'T2' has no entry in 'type_constraints'",
        False,
    ),
    "unused_variable": (
        faulty(type_constraints={"T": ["tensor(float)"], "U": ["tensor(float)"]}),
        "operators[0].type_constraints.U",
        "no input or output has this type variable",
        False,
    ),
    "type": (
        faulty(type_constraints={"T": ["tensor(float)", "tensor(float32)"]}),
        "operators[0].type_constraints.T[1]",
        "'tensor(float32)' is not a type such as tensor(float), seq(tensor(*)) or map(int64, float)",
        False,
    ),
    "no_type": (
        faulty(type_constraints={"T": []}),
        "operators[0].type_constraints.T",
        "the type variable allows no type",
        True,
    ),
    "option": (
        faulty(inputs=[{"name": "x", "type": "T", "option": "optionl"}]),
        "operators[0].inputs[0].option",
        "'optionl' is not one of optional, single, variadic; did you mean 'optional'?",
        True,
    ),
    "arity": (
        faulty(inputs=[{"name": "x", "type": "T", "min_arity": 2}]),
        "operators[0].inputs[0].min_arity",
        "only a variadic parameter has 'min_arity', this one is single",
        True,
    ),
    "variadic": (
        faulty(inputs=[{"name": "x", "type": "T", "option": "variadic"}, {"name": "z", "type": "T"}]),
        "operators[0].inputs[0]",
        "variadic 'x' is not the last of the inputs",
        False,
    ),
    "parameter_twice": (
        faulty(inputs=[{"name": "x", "type": "T"}, {"name": "x", "type": "T"}]),
        "operators[0].inputs[1]",
        "'x' occurs twice among the inputs",
        False,
    ),
    "attribute_type": (
        faulty(attributes=[{"name": "a", "type": "FLOT"}]),
        "operators[0].attributes[0].type",
        f"'FLOT' is not one of {', '.join(sorted(ATTRIBUTE_TYPE_CODES))}; did you mean 'FLOAT'?",
        True,
    ),
    "default_type": (
        faulty(attributes=[{"name": "a", "type": "INT", "default": 1.5}]),
        "operators[0].attributes[0].default",
        "a number where an integer is expected",
        True,
    ),
    "default_item": (
        faulty(attributes=[{"name": "a", "type": "STRINGS", "default": ["x", 1]}]),
        "operators[0].attributes[0].default[1]",
        "an integer where a string is expected",
        True,
    ),
    "default_range": (
        faulty(attributes=[{"name": "a", "type": "INT", "default": 2**63}]),
        "operators[0].attributes[0].default",
        f"{2**63} does not fit into 64 bits",
        True,
    ),
    "default_overflow": (
        faulty(attributes=[{"name": "a", "type": "FLOAT", "default": 10**400}]),
        "operators[0].attributes[0].default",
        "the number does not fit into single precision",
        False,
    ),
    "default_tensor": (
        faulty(attributes=[{"name": "a", "type": "TENSOR", "default": 1}]),
        "operators[0].attributes[0].default",
        "an attribute of type TENSOR cannot have a default value",
        True,
    ),
    "required_default": (
        faulty(attributes=[{"name": "a", "type": "INT", "required": True, "default": 1}]),
        "operators[0].attributes[0].default",
        "a required attribute has no default value",
        True,
    ),
    "count": (
        faulty(output_counts=[1, 3]),
        "operators[0].output_counts[1]",
        "3 is not between 1 and 1, which the parameters allow",
        False,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_schema_files(tmp_path, fault):
    document, place, reason, _ = FAULTS[fault]
    path = written(tmp_path, document)
    with pytest.raises(SchemaFileError) as caught:
        load_schema_file(path)
    assert (caught.value.path, caught.value.place, caught.value.reason) == (str(path), place, reason)
    assert str(caught.value) == f"{path}: {place}: {reason}" if place else f"{path}: {reason}"


def test_json_schema_sees_the_faults_it_can():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((DOCS / "opset-schema.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    expected = {fault: seen for fault, (_, _, _, seen) in FAULTS.items() if seen is not None}
    assert {fault: not validator.is_valid(FAULTS[fault][0]) for fault in expected} == expected
    assert validator.is_valid(MINIMAL | {"operators": [OPERATOR]})


def test_a_file_that_is_not_utf8(tmp_path):
    path = tmp_path / "schema.json"
    path.write_bytes(b'{"format": "\xff"}')
    with pytest.raises(SchemaFileError) as caught:
        load_schema_file(path)
    assert str(caught.value) == f"{path}: byte 12 is not UTF-8"


@pytest.mark.parametrize(
    ("domain", "op_type", "version", "section"),
    [
        ("", "Relu", 23, "Operators.md#Relu"),
        ("ai.onnx", "Relu", 9, "Changelog.md#Relu-6"),
        ("ai.onnx.ml", "TreeEnsembleRegressor", 3, "Changelog-ml.md#ai.onnx.ml.TreeEnsembleRegressor-3"),
        ("com.microsoft", "Attention", 1, "ContribOperators.md#com.microsoft.Attention"),
        ("", "Rellu", 23, None),
    ],
)
def test_the_section_of_an_operator_is_that_of_the_version_that_decides(domain, op_type, version, section):
    assert OperatorSchemas().section(domain, op_type, version) == section
