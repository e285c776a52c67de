# SPDX-License-Identifier: Apache-2.0
"""Rules that are left out because earlier models had the same elements have nothing to say; all others are asked."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator
from typing import Any

import pytest
from support.models.clean_model import CLEAN
from support.models.mutated_models import cases
from support.project.made_rules import registered

from onnx_lint.common.record import replace
from onnx_lint.engine import census, selection
from onnx_lint.engine.census import ELEMENTS, Census
from onnx_lint.engine.lint import lint_model
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.engine.selection import selection_of
from onnx_lint.engine.settings import ALL, Settings, options_of
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule

OF_ELEMENTS = {entry.id: entry for entry in registry().values() if entry.of is not None}

EVERYTHING = Settings(select=(ALL,))


@functools.cache
def _samples() -> tuple[tuple[str, bytes], ...]:
    """The models of the fixtures of these rules, and mutants of them, by name."""
    return tuple((name, model.SerializeToString()) for name, model in cases(OF_ELEMENTS.keys()))


def _models() -> Iterator[tuple[str, Model]]:
    return ((name, load(BytesSource(data), "model.onnx")) for name, data in _samples())


def _is_silent(entry: Registered, model: Model) -> bool:
    """Whether the rule need not be asked, or has nothing to say though there is no sign of that beforehand."""
    if entry.about is not None:
        return not getattr(model, entry.about)
    return next(entry.rule.check(model), None) is None


Elements = set[tuple[Hashable, Hashable]]


def _elements(kind: str, model: Model) -> Elements | None:
    found = ELEMENTS[kind](model, {}) if model.loaded else None
    if found is None:
        return None
    return {(circumstances, each) for circumstances, elements in found.items() for each in elements}


def test_what_a_rule_is_silent_about_it_is_silent_about_in_every_model():
    """Held for each rule by itself, against all elements that it let pass in any other model."""
    models = [model for _, model in _models()]
    kinds = {entry.of for entry in OF_ELEMENTS.values()}
    elements = {kind: [_elements(kind, model) for model in models] for kind in kinds if kind is not None}
    broken, wrong = set(), []
    for name, entry in OF_ELEMENTS.items():
        assert entry.of is not None
        let_pass: Elements = set()
        loud: list[tuple[int, Elements]] = []
        for number, (model, found) in enumerate(zip(models, elements[entry.of], strict=True)):
            if found is None:
                continue
            if _is_silent(entry, model):
                let_pass |= found
            if next(entry.rule.check(model, **options_of(entry.rule, EVERYTHING)), None) is not None:
                loud.append((number, found))
                broken.add(name)
        wrong += [f"{name}: {_samples()[number][0]}" for number, found in loud if found <= let_pass]
    assert wrong == []
    # What only references to parameters of functions break is never counted.
    assert OF_ELEMENTS.keys() - broken == {"data-in-attribute-reference", "misplaced-attribute-reference"}


def test_a_run_of_many_models_says_what_a_run_of_each_says(monkeypatch: pytest.MonkeyPatch):
    settled = 0
    known = Census.settled

    def counted(self: Census, model: Model) -> frozenset[str]:
        nonlocal settled
        found = known(self, model)
        settled += bool(found)
        return found

    monkeypatch.setattr(Census, "settled", counted)
    together = [(name, lint_model(model, EVERYTHING)) for name, model in _models()]
    assert settled > 100
    monkeypatch.setattr(Census, "settled", lambda self, model: frozenset())
    alone = replace(EVERYTHING)
    for (name, verdict), (_, model) in zip(together, _models(), strict=True):
        assert verdict == lint_model(model, alone), name


def _model(text: str) -> Model:
    return load(BytesSource(text.encode()), "model.textproto")


def _asked(text: str, settings: Settings) -> set[str]:
    """The rules that decide on elements and are asked for a model, or what they are about; it is linted then."""
    model = _model(text)
    selection = selection_of(settings)
    asked = selection.asked(model, selection.settled(model))
    looked = {entry.id for entry in selection.entries if entry.about in vars(model)}
    lint_model(_model(text), settings)
    return (looked | {entry.id for entry in asked}) & OF_ELEMENTS.keys()


RENAMED = CLEAN.replace('"y"', '"z"').replace('"relu"', '"r"')
CONV = 'node { op_type: "Conv" input: "x" input: "x" output: "c" ATTRIBUTE }'
BROKEN = CLEAN.replace(
    "node {", CONV.replace("ATTRIBUTE", 'attribute { name: "auto_pad" type: STRING s: "?" }') + "node {", 1
)


def test_rules_are_asked_about_what_is_new():
    settings = Settings()
    first = _asked(CLEAN, settings)
    assert "impossible-attribute-value" in first
    assert _asked(RENAMED, settings) == set()
    assert _asked(CLEAN.replace("Relu", "Abs"), settings) == first
    assert _asked(CLEAN.replace("version: 21", "version: 20"), settings) == first
    assert _asked(CLEAN.replace("ir_version: 10", "ir_version: 11"), settings) == first
    assert _asked(CLEAN, Settings()) == first


def test_what_was_found_wrong_is_asked_about_again():
    settings = Settings()
    first = _asked(BROKEN, settings)
    assert "unsupported-attribute-value" in first
    assert _asked(BROKEN, settings) == first
    assert "unsupported-attribute-value" in {found.rule for found in lint_model(_model(BROKEN), settings).diagnostics}


FUNCTION = """
functions { name: "F" domain: "f" input: "a" output: "b" opset_import { version: 21 }
  node { op_type: "Relu" input: "a" output: "b" ATTRIBUTE } }
"""


def test_a_function_with_parameters_has_its_say_each_time():
    settings = Settings()
    plain = CLEAN + FUNCTION.replace("ATTRIBUTE", "")
    with_reference = CLEAN + FUNCTION.replace("ATTRIBUTE", 'attribute { name: "alpha" type: FLOAT ref_attr_name: "p" }')
    assert _asked(plain, settings)
    assert _asked(plain, settings) == set()
    assert _asked(with_reference, settings) == _asked(with_reference, settings) != set()
    parametric = plain.replace('name: "F"', 'name: "F" attribute: "p"')
    assert _asked(parametric, settings) == _asked(parametric, settings) != set()


def test_a_call_is_no_operator():
    """A node that calls a function is right as a call, which says nothing of the operator of the same name."""
    settings = Settings()
    own = 'functions { name: "Relu" domain: "" input: "a" output: "b" opset_import { version: 21 } }'
    assert _asked(CLEAN + own, settings)
    assert _asked(CLEAN, settings) != set()
    assert _asked(CLEAN, settings) == set()


def _rules(monkeypatch: pytest.MonkeyPatch, run: Any) -> Settings:
    made = registered(rule(clause="TYP-2", since="1.0", of="form")(run), "type", "made", None)
    monkeypatch.setattr(selection, "registry", lambda: {made.id: made})
    return Settings(select=(ALL,))


def test_a_rule_that_crashes_is_asked_again(monkeypatch: pytest.MonkeyPatch):
    def crashes(model: Model) -> Iterator[Finding]:
        raise RuntimeError("always")
        yield Finding(ROOT, "")

    settings = _rules(monkeypatch, crashes)
    for _ in range(2):
        assert [error.rule for error in lint_model(_model(CLEAN), settings).errors] == ["crashes"]


def test_a_finding_that_is_left_out_of_the_report_is_one(monkeypatch: pytest.MonkeyPatch):
    runs = []

    def counts(model: Model) -> Iterator[Finding]:
        runs.append(model)
        yield Finding(ROOT, "something")

    settings = replace(_rules(monkeypatch, counts), severities={})
    monkeypatch.setattr("onnx_lint.engine.diagnose.presence", lambda *_: None)
    for _ in range(2):
        assert lint_model(_model(CLEAN), settings).diagnostics == ()
    assert len(runs) == 2


def test_what_is_remembered_has_a_bound(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(census, "_MOST_KEPT", 3)
    settings = Settings()
    for operator in ("Relu", "Abs", "Neg", "Exp", "Log"):
        assert _asked(CLEAN.replace("Relu", operator), settings)
        kept = selection_of(settings)._census._right["form"]
        assert 0 < sum(map(len, kept.values())) <= 3


def test_a_rule_is_of_elements_that_are_counted():
    with pytest.raises(ValueError, match="a rule cannot be of 'node'; there are form"):
        rule(clause="TYP-2", since="1.0", of="node")  # type: ignore[arg-type]  # what is refused
