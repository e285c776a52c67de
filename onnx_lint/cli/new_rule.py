# SPDX-License-Identifier: Apache-2.0
"""The command `new-rule`: writes a rule of one's own to start from, with its clause, and its test with two models."""

from __future__ import annotations

import keyword
import os
import re
import sys
from typing import Final

import click

from onnx_lint.cli.streams import report_file, standard_output
from onnx_lint.engine.registry import registry
from onnx_lint.reporters.escape import shown_path

_NAME: Final = re.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*")

_TAKEN: Final = sys.stdlib_module_names | {"conftest", "pytest", "_pytest", "pluggy", "test", "numpy", "onnx", "google"}
"""The modules that Python, pytest or onnx-lint would import from the folder of the rule instead of their own."""

_LONGEST_LINE: Final = 120

_RULE: Final = '''\
"""Rules of our own; `onnx-lint --plugin {file} MODEL` runs them."""

from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import {names}
from onnx_lint.rule import Finding, own_clause, rule
from onnx_lint.wording import quote

CLAUSE = own_clause(
    "{clause}",
    "{requirement}",
)


@rule(clause=CLAUSE, since="1.0")
def {function}(model: Model) -> Iterator[Finding]:
    """{summary}"""
{body}'''

_LOOP: Final = """\
    {loop}:
        is_wrong = False  # fill in the condition, such as {condition}
        if is_wrong:
            message = f"{message}, which is not allowed"
            yield Finding({place}, message, subject={subject})
"""
"""The body of a rule that looks at each thing of one kind."""

_REQUIRED_KEY: Final = """\
    key = "{key}"
    if all(entry.key != key for entry in model.proto.metadata_props):
        message = f"the metadata has no key {{quote(key)}}"
        yield Finding(ROOT.at("metadata_props"), message, allowed=f"the key {{quote(key)}}")
"""
"""The body of a rule whose name begins with `missing-`."""

_TEST: Final = '''\
"""The rule {name} on a model that breaks it and on one that keeps it."""

from pathlib import Path

from onnx_lint import Settings, lint

# Fill in a model with the fault, and one that only nearly has it.
INVALID = """
ir_version: 10
producer_name: "us"
opset_import {{ version: 21 }}{wrong_metadata}
graph {{
  name: "graph"
  node {{ name: "n" op_type: "Relu" input: "x" output: "y" }}
  input {{ name: "x" type {{ tensor_type {{ elem_type: 1 shape {{ }} }} }} }}
  output {{ name: "y" type {{ tensor_type {{ elem_type: 1 shape {{ }} }} }} }}
}}
"""

VALID = """
ir_version: 10
producer_name: "us"
opset_import {{ version: 21 }}{right_metadata}
graph {{ name: "other" }}
"""


def rules(model: str) -> set[str]:
    plugin = Path(__file__).parent / "{file}"
    report = lint(model.encode(), Settings(plugins=plugin), select="{name}")
    return {{each.rule for each in report.diagnostics}}


def test_a_model_that_breaks_the_rule() -> None:
    assert rules(INVALID) == {{"{name}"}}


def test_a_model_that_keeps_the_rule() -> None:
    assert rules(VALID) == set()
'''

_KINDS: Final = {
    "metadata": {
        "names": "ROOT, Model",
        "loop": "for index, entry in enumerate(model.proto.metadata_props)",
        "condition": 'entry.key == "author"',
        "place": 'ROOT.at("metadata_props", index)',
        "message": "the metadata has the key {quote(entry.key)}",
        "subject": "entry.key",
    },
    "node": {
        "names": "Model",
        "loop": "for node in model.nodes()",
        "condition": 'node.op_type == "Relu"',
        "place": 'node.place.at("op_type")',
        "message": "{node.describe()} has the operator {quote(node.op_type)}",
        "subject": "node.name",
    },
    "value": {
        "names": "Model",
        "loop": "for index, value in enumerate(model.proto.graph.input)",
        "condition": "value.type.tensor_type.elem_type == 1  # float",
        "place": 'model.main_graph.at("input", index)',
        "message": "input {quote(value.name)} is a tensor of float",
        "subject": "value.name",
    },
    "graph": {
        "names": "Model",
        "loop": "for graph in model.graphs",
        "condition": 'graph.name == "graph"',
        "place": "graph.place",
        "message": "{graph.describe()} is called {quote(graph.name)}",
        "subject": "graph.name",
    },
}
"""By what a rule is about, the parts of its body."""


_ENTRY: Final = '\nmetadata_props {{ key: "{key}" value: "us" }}'


def _body(name: str, kind: str) -> dict[str, str]:
    """Return the parts of the files that depend on what the rule is about."""
    names, key = _KINDS[kind]["names"], name.removeprefix("missing-")
    if kind == "metadata" and key != name:
        return {
            "names": names,
            "requirement": f"The metadata of a model has the key {key}.",
            "summary": f"The metadata has no key {key}.",
            "body": _REQUIRED_KEY.format(key=key),
            "wrong_metadata": "",
            "right_metadata": _ENTRY.format(key=key),
        }
    return {
        "names": names,
        "requirement": "What a model must do.",
        "summary": "What is wrong, in one sentence.",
        "body": _LOOP.format(**_KINDS[kind]),
        "wrong_metadata": _ENTRY.format(key="author"),
        "right_metadata": "",
    }


@click.command("new-rule", short_help="Write a rule of your own to start from.")
@click.argument("name", metavar="NAME")
@click.option(
    "--kind", type=click.Choice(list(_KINDS)), default="metadata", help="What it is about.", show_default=True
)
def new_rule_command(name: str, kind: str) -> None:
    """Write a rule of your own to start from: a Python file, and its test with two models.

    NAME is the id of the rule: lower-case words with dashes that name what is found, such as missing-licence. Existing
    files are never changed. A rule of the metadata whose name begins with missing- works as it is written; the test of
    any other fails until you fill in the condition and the models. Then run: pytest, and onnx-lint --plugin FILE MODEL.
    """
    if _NAME.fullmatch(name) is None:
        raise click.UsageError(
            f"the name of a rule has lower-case words with dashes, such as missing-licence, not {name!r}"
        )
    if name in registry():
        raise click.UsageError(f"a rule of onnx-lint has the name {name!r} already")
    function = name.replace("-", "_")
    file = f"{function}.py"
    if keyword.iskeyword(function):
        raise click.UsageError(f"{function!r} is a keyword of Python")
    if function in _TAKEN:
        raise click.UsageError(f"the file would be a module {function!r}, which Python or pytest imports")
    parts = {"file": file, "name": name, "function": function, "clause": f"HOUSE-{name.upper()}"} | _body(name, kind)
    files = {file: _RULE.format(**parts), f"test_{file}": _TEST.format(**parts)}
    if any(len(line) > _LONGEST_LINE for text in files.values() for line in text.splitlines()):
        raise click.UsageError(f"the name is too long: a line would have more than {_LONGEST_LINE} characters")
    for path in files:
        if os.path.lexists(path):
            raise click.ClickException(f"{shown_path(path)}: the file exists already")
    for path, text in files.items():
        with report_file(path) as stream:
            stream.write(text)
    with standard_output() as stream:
        stream.writelines(f"{shown_path(path)}\n" for path in files)
