# SPDX-License-Identifier: Apache-2.0
"""A rule is one file with everything about it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.project.checkout import ROOT
from support.project.made_rules import registered

from onnx_lint.common.cached import cached_property
from onnx_lint.engine.registry import INDEX, RegistryError, registry
from onnx_lint.engine.registry import registered as registry_of
from onnx_lint.engine.selection import Selection
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model
from onnx_lint.rule import Rule, rule

RULE = '''# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule


@rule(clause="TYP-2", since="0.2.0")
def any_type_at_all(model: Model) -> Iterator[Finding]:
    """Something is found whatever the model holds.

    ### How to fix

    Say that the model is silent.

    ### Example

    ```
    domain: "loud"
    ```

    Corrected:

    ```
    domain: "silent"
    ```

    ### Why it matters

    A rule that is never asked would let every model conform.

    ### Details

    A model of the domain `silent`.
    """
    if model.proto.domain != "silent":
        yield Finding(ROOT.at("domain"), "the model is not silent", allowed="the domain 'silent'")
'''

MODEL = """# The model says {domain}.
# select: any-type-at-all
{expect}
ir_version: 10
domain: "{domain}"
opset_import {{ version: 21 }}
graph {{ name: "graph" }}
"""

SMALL = b'ir_version: 10 opset_import { version: 21 } graph { name: "graph" }'

FINDING = "error[any-type-at-all] domain: the model is not silent"


@pytest.fixture(scope="module")
def shared_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the parts of this checkout that a new rule needs, with the compiled files."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("onnx_lint", "rules", "tests", "tools"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture
def checkout(shared_checkout: Path) -> Iterator[Path]:
    """The copy, which is as before after the test: the processes of all tests share its byte code."""
    yield shared_checkout
    shutil.rmtree(shared_checkout / "rules")
    shutil.copytree(ROOT / "rules", shared_checkout / "rules", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(shared_checkout / "fixtures", ignore_errors=True)


def _add(checkout: Path) -> None:
    """Add the rule and its two fixtures."""
    (checkout / "rules" / "type" / "any_type_at_all.py").write_text(RULE)
    for kind, domain, expect in (("valid", "silent", ""), ("invalid", "loud", f"# expect: {FINDING}")):
        path = checkout / "fixtures" / "any-type-at-all" / kind / f"a_{domain}_model.textproto"
        path.parent.mkdir(parents=True)
        path.write_text(MODEL.format(domain=domain, expect=expect))


def _run(checkout: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.mark.slow
def test_a_rule_is_added_with_one_file_and_two_fixtures(checkout: Path):
    _add(checkout)
    assert _run(checkout, "tools.catalogue") == (0, "")
    assert "(type/any_type_at_all.py)" in (checkout / "rules" / "README.md").read_text()
    entry = json.loads((checkout / "rules" / INDEX).read_text())["any-type-at-all"]
    assert (entry["clauses"], entry["about"], entry["needs"]) == (["TYP-2"], None, "model")
    assert (
        "Something is found whatever the model holds." in _run(checkout, "onnx_lint", "explain", "any-type-at-all")[1]
    )

    fixtures = checkout / "fixtures" / "any-type-at-all"
    silent, loud = fixtures / "valid" / "a_silent_model.textproto", fixtures / "invalid" / "a_loud_model.textproto"
    code, output = _run(checkout, "onnx_lint", "check", "--select", "any-type-at-all", str(silent), str(loud))
    assert (code, output.count("the model is not silent")) == (1, 1)
    assert "2 models: 1 does not conform to ONNX 1.23 (1 error), 1 has no verdict; 1 of " in output

    tests = ("tests/rules/test_fixtures.py", "tests/rules/test_examples.py", "-k", "any-type or draws")
    quick = ("--assert=plain", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:anyio")
    _, output = _run(checkout, "pytest", "-q", "-rp", *quick, *tests)
    lines = output.splitlines()
    assert sum(line.startswith("PASSED tests/rules/test_fixtures.py") for line in lines) == 1, output

    # The new rule has a finding in the examples of all other rules, but its own examples keep to the conventions.
    assert any(line.startswith("cycle: block 0 ") and "any-type-at-all" in line for line in lines), output
    assert [line for line in lines if line.startswith("any-type-at-all: ")] == []


def test_the_index_is_written_without_the_old_one(checkout: Path):
    (checkout / "rules" / INDEX).unlink()
    code, output = _run(checkout, "tools.catalogue")
    assert (code, output) == (0, "")
    assert (checkout / "rules" / INDEX).read_text() == (ROOT / "rules" / INDEX).read_text()


def test_a_rule_with_a_clause_that_is_not_compiled_yet_leaves_the_index(checkout: Path):
    rule = checkout / "rules" / "model" / "missing_producer.py"
    whole, listed = rule.read_text(), (checkout / "rules" / INDEX).read_bytes()
    rule.write_text(whole.replace('"MOD-10"', '"NEW-10"'))
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    command = [sys.executable, "-m", "tools.catalogue"]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    rule.write_text(whole)
    assert (done.returncode, (checkout / "rules" / INDEX).read_bytes()) == (1, listed)
    assert "which does not exist. For a new clause, run python -m tools.compile_clauses first.\n" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_rule_is_about_a_property_of_models():
    class Other:
        @cached_property
        def has_faults(self) -> bool:
            return False

    with pytest.raises(ValueError, match="a property of Model, not 'has_faults'"):
        rule(clause="FIL-1", since="1.0", about=Other.has_faults)


def test_a_rule_needs_what_documents_have():
    with pytest.raises(ValueError, match="not 'models'"):
        rule(clause="FIL-1", since="1.0", needs="models")
    entry = registered(Rule("new", iter, ("FIL-1",), "1.0", needs="models"), "file", "new", None)
    with pytest.raises(RegistryError, match=r"rule 'new' in .* needs 'models', which no document has"):
        registry_of([entry])


def test_what_a_rule_is_about_is_known_before_its_file_is_imported():
    entry = registry()["cycle"]
    assert entry.about == "has_late_uses"
    assert entry.rule.about == "has_late_uses"


def test_a_rule_is_asked_where_nobody_can_tell_whether_it_has_something_to_look_at(monkeypatch: pytest.MonkeyPatch):
    def fails(model: Model) -> bool:
        raise RuntimeError("cannot be printed")

    settings = Settings(select=("cycle",))
    model = load(BytesSource(SMALL), "model.textproto")
    assert Selection(settings, registry()).asked(model) == []
    monkeypatch.setattr("onnx_lint.engine.selection.question_of", lambda about: fails)
    model = load(BytesSource(SMALL), "model.textproto")
    assert [entry.id for entry in Selection(settings, registry()).asked(model)] == ["cycle"]


def test_the_first_step_is_a_sentence_and_no_item_of_a_list():
    first_steps = {entry.id: entry.first_step for entry in registry().values()}
    assert first_steps["not-a-model"] == ""
    assert first_steps["duplicate-definition"].startswith("Rename the second value")
    assert [step for step in first_steps.values() if step and not step[0].isupper()] == []
