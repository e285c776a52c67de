# SPDX-License-Identifier: Apache-2.0
"""The pages of `explain` about the words of a report: verdicts, chapters, keywords, severities and operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.engine.registry import registry
from onnx_lint.inference.shapes.rules import WITHOUT_SHAPES, has_shape_rule
from onnx_lint.reporters.documentation import is_default, worst_severity
from onnx_lint.reporters.record_page import GRAPHS, LEGEND, graph_tables, record_lines
from onnx_lint.spec.clauses import KEYWORDS, OWN_KEYWORDS, Severity, clauses
from onnx_lint.spec.operators import OperatorSchemas, Parameter, ParameterOption
from onnx_lint.spec.operators.attribute_constraints import attribute_constraints
from onnx_lint.spec.operators.attribute_values import RUNTIME_DOMAIN, allowed_values
from onnx_lint.spec.operators.combinations import Choice, combinations
from onnx_lint.spec.operators.operand_ranks import LIST, SCALAR, operand_ranks
from onnx_lint.spec.operators.records import record_of
from onnx_lint.spec.operators.schema import AttributeSchema, OperatorSchema

_SCHEMAS: Final = OperatorSchemas()

_CHOICES: Final = {
    Choice.ONE: "exactly one of",
    Choice.SOME: "at least one of",
    Choice.AT_MOST_ONE: "at most one of",
    Choice.TOGETHER: "all or none of",
    Choice.NEEDS: "the first only with the second of",
}
"""The words before the members of a combination, by its kind."""


def chapters() -> list[str]:
    """Return the chapters of the rules, sorted."""
    return sorted({entry.chapter for entry in registry().values()})


def chapter_page(name: str, edition: str) -> str:
    """Return the page of a chapter: its rules, with the severity of each."""
    lines = []
    for entry in registry().values():
        if entry.chapter == name:
            level = worst_severity(entry, edition)
            how = (level.label if level else "not in this edition") + ("" if is_default(entry, edition) else ", off")
            lines.append(f"- `{entry.id}` ({how}): {entry.summary}")
    about = f"A chapter of {len(lines)} rules. `--select {name}` runs only these, `--extend-select {name}` adds all."
    return "\n\n".join([f"# {name}", about, "\n".join(lines)]) + "\n"


def keyword_page(word: str) -> str:
    """Return the page of a keyword of clauses: its meaning, and the severity of its findings."""
    meaning = OWN_KEYWORDS.get(word, "RFC 2119 defines it")
    cited = sum(word in clause.keyword.values() for clause in clauses().values())
    parts = [
        f"# {word}",
        f"A keyword of clauses: {meaning}.",
        f"Findings under it are of the severity {KEYWORDS[word].label}. {cited} clauses have it in some edition.",
    ]
    return "\n\n".join(parts) + "\n"


WORDS: Final = {
    "conforms": "No finding breaks a requirement of ONNX. The verdict needs every rule that finds errors, at its own "
    "severity, and no suppressed error. Warnings and notes do not change it.",
    "counted": "The last line has the number of findings of some pedantic clauses. `--pedantic` lists them.",
    "not checked": "The file could not be read, or exceeds a limit. The exit code is 2.",
    "not judged": "There is no verdict although the file was read: the settings leave out every rule, or the file "
    "holds no model and `not-a-model`, which reports that, is not selected. *Not judged in full*: an internal error "
    "kept some rules from judging it. A target does not judge what its data do not cover.",
    "not verified": "The part of the model that onnx-lint could not check, for example the nodes of a custom domain. "
    "`--opset-schema` describes such a domain.",
    "pedantic": "Findings that nearly every real model has and few can act on. They are listed only with "
    "`--pedantic`, or if the rule is selected by name, and fail no run otherwise.",
}
"""The words of a report that are neither keywords nor severities, and what they mean."""


def severity_page(level: Severity) -> str:
    """Return the page of a severity: the keywords that lead to it, and what it does to the exit code."""
    words = ", ".join(f"*{word}*" for word, of in KEYWORDS.items() if of is level)
    fails = "is 1" if level is Severity.ERROR else f"stays 0 unless `--fail-on {level.label}` is given"
    parts = [
        f"# {level.label}",
        f"The severity of findings under clauses with the keyword {words}.",
        f"If it is the worst of a run, the exit code {fails}. `--severity RULE={level.label}` sets it for a rule.",
    ]
    return "\n\n".join(parts) + "\n"


# --- operators


def operators_called(name: str) -> list[tuple[str, str]]:
    """Return the domain and name of the operators called `Conv`, `conv` or `com.microsoft::Attention`."""
    domain, colons, op_type = name.rpartition("::")
    domains = [domain] if colons else _SCHEMAS.known_domains()
    wanted = op_type.lower()
    return [(of, known) for of in domains for known in _SCHEMAS.operator_names(of) if known.lower() == wanted]


def operator_page(domain: str, op_type: str) -> str:
    """Return the page of an operator: what is checked of its nodes, version by version, the newest first."""
    title = f"{domain}::{op_type}" if domain else op_type
    parts = [f"# {title}", "What is checked of a node, by the version of the operator that the imports select."]
    versions = _SCHEMAS.versions(domain, op_type)
    for version in reversed(versions):
        schema = _SCHEMAS.find(domain, op_type, version)
        if schema is not None:
            section = _SCHEMAS.section(domain, op_type, version)
            parts += [f"### Version {version} ({section})", "\n".join(f"- {line}" for line in _checks(schema))]
    record = record_of(op_type) if domain == RUNTIME_DOMAIN else None
    if record is not None:
        lines = "\n".join(f"- {line}" for line in record_lines(record))
        parts += ["### What ONNX Runtime requires", LEGEND, lines or "- nothing beyond the signature"]
        if record.graphs:
            parts += ["### The graphs", GRAPHS, *graph_tables(record)]
    return "\n\n".join(parts) + "\n"


def _checks(schema: OperatorSchema) -> Iterator[str]:
    if schema.deprecated:
        yield "deprecated: a node of it is an error"
        return
    for field, parameters in (("input", schema.inputs), ("output", schema.outputs)):
        for index, each in enumerate(parameters):
            yield f"{field} {index} `{each.name}`{_option(each)}: {each.type}{_rank(schema, field, index)}"
    for variable, types in schema.type_constraints.items():
        yield f"{variable} is one of {', '.join(sorted(types))}"
    for name, attribute in schema.attributes.items():
        yield f"attribute `{name}`, {attribute.type}{_default(schema, attribute)}{_values(schema, name)}"
    for combination in combinations(schema):
        sides = [" or ".join(member.describe() for member in side) for side in combination.sides if side]
        yield f"{_CHOICES[combination.kind]}: {'; '.join(sides)}"
    yield _shapes(schema)


def _option(parameter: Parameter) -> str:
    return "" if parameter.option is ParameterOption.SINGLE else f" ({parameter.option.value})"


def _rank(schema: OperatorSchema, field: str, index: int) -> str:
    ranks = operand_ranks(schema, index) if field == "input" else None
    words = {SCALAR: "; a scalar", LIST: "; one dimension"}
    return words.get(ranks.text, "") if ranks is not None else ""


def _default(schema: OperatorSchema, attribute: AttributeSchema) -> str:
    if attribute.required:
        return ", required"
    return f", default {attribute.default!r}" if schema.has_default_values and attribute.default is not None else ""


def _values(schema: OperatorSchema, name: str) -> str:
    allowed = allowed_values(schema, name)
    found = attribute_constraints((schema.domain, schema.name, schema.since_version))
    said = f"; one of {', '.join(map(str, sorted(allowed)))}" if allowed is not None else ""
    if found is not None and name in found.minima:
        said += f"; at least {found.minima[name]}"
    if found is not None and name in found.sizes:
        said += f"; {found.sizes[name]} elements"
    return said


def _shapes(schema: OperatorSchema) -> str:
    if has_shape_rule(schema):
        return "shapes: those of the inputs must fit each other, and those of the outputs follow"
    title = f"{schema.domain}::{schema.name}" if schema.domain else schema.name
    record = record_of(schema.name) if schema.domain == "com.microsoft" else None
    why = record.unknown if record is not None else WITHOUT_SHAPES.get(title)
    return f"shapes: not checked{f', since {why}' if why else ''}"
