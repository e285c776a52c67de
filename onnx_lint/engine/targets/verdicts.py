# SPDX-License-Identifier: Apache-2.0
"""The verdict on a model for each program and version of `--target`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import Enum
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.common.visible import visible
from onnx_lint.engine.settings import Settings
from onnx_lint.engine.targets.releases import TargetRelease, target_releases
from onnx_lint.engine.targets.unjudged_by_checkers import unjudged_by_full_check, unjudged_by_onnx
from onnx_lint.engine.targets.unjudged_nodes import unjudged_nodes
from onnx_lint.engine.targets.unseen_faults import UnseenFaults
from onnx_lint.model import Model, OperatorStatus
from onnx_lint.report.file_report import TargetVerdict
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.clauses import Severity, clauses
from onnx_lint.spec.releases import DOMAIN_ALIAS, normalized_domain
from onnx_lint.spec.target import CHECKER, FULL_CHECK, title
from onnx_lint.wording import counted, listed

_TARGET_CHAPTER: Final = "target"
"""The chapter that declares the clauses about programs."""

_PRODUCT_CLAUSE: Final = "PRD-1"
"""The clause whose rule judges the operators of a model by the data of programs."""

_REMOVABLE_NODE_CLAUSE: Final = "PRD-6"
"""The clause about nodes that a program refuses unless it removes them."""

_FAILING_RUN_CLAUSE: Final = "PRD-7"
"""The clause about nodes that a program loads, and refuses at each run."""

_OPERAND_SHAPE_CLAUSE: Final = "NOD-8a"
"""The clause about the shapes of operands."""

_IR_VERSION_CLAUSE: Final = "VER-3a"
"""The clause about what the IR version of the target lacks."""

_OPERATOR_SET_CLAUSE: Final = "VER-12a"
"""The clause about what the operator set version of the target lacks."""

_FULL_CHECK_SUFFIX: Final = f"; the target {FULL_CHECK} is about full_check=True"
"""The end of the line about `onnx.checker`: its verdict is not about the checks that `full_check` adds."""

_MAX_REASONS: Final = 5
"""The most reasons of an unknown answer, and the most clauses in one of them."""


class _TargetAnswer(Enum):
    """What a target does with a model, or with a model that has a finding. The value is `TargetVerdict.loads`."""

    LOADS = True
    REFUSES = False
    UNKNOWN = None


class _State(Record):
    """What is known of a program, of a release or of a version."""

    answer: _TargetAnswer
    words: str
    """The answer in words."""
    reason: str = ""
    """Why the answer is unknown, see `TargetVerdict.reason`."""


def _unknown(reason: str) -> _State:
    return _State(_TargetAnswer.UNKNOWN, reason, reason)


def _fails_for_lack_of_proof(state: _State, settings: Settings) -> bool:
    """Return whether the verdict fails the run. If a target refuses the model, a finding fails the run."""
    return state.answer is _TargetAnswer.UNKNOWN and settings.target_gate == "unproven"


def _missing(rule: str, rules: Collection[str]) -> Sequence[str]:
    """Return that a rule did not run, in words; empty if it is one of `rules`, which ran."""
    return () if rule in rules else (f"the rule {rule} did not run",)


# --- programs


def program_verdicts(
    unseen: UnseenFaults,
    settings: Settings,
    found: Sequence[Diagnostic],
    *,
    rules: Collection[str],
    not_checked: Sequence[str],
) -> Iterator[TargetVerdict]:
    """Yield the verdict for each program.

    `found`: all findings. `rules`: those that ran. `not_checked`: what was not checked, in words.
    """
    (judge,) = clauses()[_PRODUCT_CLAUSE].rules
    for program in settings.target.programs:
        releases = target_releases(program)
        missing = () if releases[0].is_checker else _missing(judge, rules)
        gaps = [*missing, *not_checked]
        state = _joined([_state_of_release(each, found, gaps, unseen) for each in releases], releases)
        yield TargetVerdict(
            title(program),
            state.answer.value,
            state.words,
            state.reason,
            fails_run=_fails_for_lack_of_proof(state, settings),
            verb=releases[0].verb,
            basis=_basis_of(releases),
            suffix=_FULL_CHECK_SUFFIX if program == CHECKER else "",
        )


def _joined(states: Sequence[_State], releases: Sequence[TargetRelease]) -> _State:
    """Return the state of the requested release.

    If only the releases before and after it have data, return their state if they agree, else that it is unknown.
    """
    if len(states) == 1:
        return states[0]
    versions = [release.data.version for release in releases if release.data is not None]
    answers = {state.answer for state in states}
    if answers == {_TargetAnswer.LOADS}:
        return _State(_TargetAnswer.LOADS, f"{listed(versions)} load it{_basis_of(releases)}")
    if answers == {_TargetAnswer.REFUSES}:
        return _State(_TargetAnswer.REFUSES, f"{listed(versions)} refuse it")
    if len({state.words for state in states}) == 1:
        return states[0]
    return _unknown("; ".join(f"{version} {state.words}" for version, state in zip(versions, states, strict=True)))


def with_errors_if_neighbours_refuse(
    found: Sequence[Diagnostic], unseen: UnseenFaults, settings: Settings
) -> list[Diagnostic]:
    """Return the findings, as errors those for which both neighbours of an unknown release refuse the model.

    A finding about one neighbour is a warning. If one neighbour refuses an operator and the other one a type, each of
    the two is a warning, and the release between them surely refuses the model: then both become errors.
    """
    raised: set[int] = set()
    for releases in map(target_releases, settings.target.programs):
        if len(releases) > 1:
            causes = _causes_of_all(releases, found, unseen)
            if all(found[at].severity < Severity.ERROR for at in causes):
                raised |= causes
    return [
        replace(item, severity=Severity.ERROR) if at in raised and item.rule not in settings.severities else item
        for at, item in enumerate(found)
    ]


def _causes_of_all(releases: Sequence[TargetRelease], found: Sequence[Diagnostic], unseen: UnseenFaults) -> set[int]:
    """Return the indices of the findings for which releases refuse the model; none unless each of them refuses it."""
    causes = set[int]()
    for release in releases:
        refused = {at for at, item in enumerate(found) if _answer_to(release, item, unseen) is _TargetAnswer.REFUSES}
        if not refused:
            return set()
        causes |= refused
    return causes


def _basis_of(releases: Sequence[TargetRelease]) -> str:
    """Return the phrase that names the evidence for a positive answer, such as `, as far as its data say`."""
    if len(releases) > 1:
        return ", as far as their data say"
    data = releases[0].data
    return (data.quoted if data is not None else "") or ", as far as its data say"


def _state_of_release(
    release: TargetRelease, found: Sequence[Diagnostic], not_checked: Sequence[str], unseen: UnseenFaults
) -> _State:
    """Return whether a release loads the model, with what is not known."""
    answers = [_answer_to(release, item, unseen) for item in found]
    if refusing := answers.count(_TargetAnswer.REFUSES):
        return _State(_TargetAnswer.REFUSES, f"refuses it: {counted(refusing, 'cause')}")
    doubtful = [item for item, answer in zip(found, answers, strict=True) if answer is _TargetAnswer.UNKNOWN]
    others = [item for item in doubtful if not item.is_violation]
    violations = len(doubtful) - len(others)
    unjudged = [*not_checked, *_unjudged(release, unseen.model)]
    if others:
        unjudged.append(_treated_differently(others))
    reasons = [f"{counted(violations, 'violation')} of ONNX"] if violations else []
    if unjudged:
        reasons.append(f"not judged: {'; '.join(_shortened(unjudged))}")
    if reasons:
        reason = "; ".join(reasons)
        words = f"not proven to {release.verb} it: {reason}" if violations else reason
        return _State(_TargetAnswer.UNKNOWN, words, reason)
    verb = "accepts it" if release.is_checker else "loads"
    return _State(_TargetAnswer.LOADS, f"{verb}{_basis_of([release])}")


def _shortened(parts: Sequence[str]) -> Sequence[str]:
    """Return the first parts, and how many more there are: a file may name thousands of domains."""
    hidden = len(parts) - _MAX_REASONS
    return parts if hidden <= 0 else [*parts[:_MAX_REASONS], f"{hidden:,} more"]


def _treated_differently(found: Sequence[Diagnostic]) -> str:
    """Return the phrase for findings whose effect on the program is unknown, with their clauses."""
    names = _shortened(sorted({item.clause for item in found}))
    return f"{counted(len(found), 'finding')} that programs treat differently ({listed(names)})"


def _unjudged(release: TargetRelease, model: Model) -> Iterator[str]:
    """Yield the parts of a model for which a release may refuse it, as phrases."""
    if not model.loaded:
        return
    if release.data is None:
        yield from unjudged_by_onnx(model)
        if release.program == FULL_CHECK:
            yield from unjudged_by_full_check(model)
        return
    yield from unjudged_nodes(model, release.data)
    if release.data.has_kernels:
        from onnx_lint.engine.targets.unjudged_by_onnxruntime import unjudged_by_onnxruntime

        yield from unjudged_by_onnxruntime(model, release.data)
    else:
        from onnx_lint.engine.targets.unjudged_conversions import unjudged_by_converters

        yield from unjudged_by_converters(model, release.data)


def _answer_to(release: TargetRelease, item: Diagnostic, unseen: UnseenFaults) -> _TargetAnswer:
    """Return whether a release loads a model with a finding."""
    if item.cited.declared_by == _TARGET_CHAPTER:
        return _answer_to_own_finding(release, item)
    if release.refuses_since(item, unseen):
        return _TargetAnswer.REFUSES
    if release.proofs_of_acceptance(item, unseen) or _is_compared_later(release, item):
        return _TargetAnswer.LOADS
    # The keyword practice means that consumers refuse it, or differ. They differ about data files as well.
    is_about_files = clauses()[item.clause].chapter == "external-data"
    is_open = item.is_violation or item.keyword == "practice" or is_about_files
    return _TargetAnswer.UNKNOWN if is_open else _TargetAnswer.LOADS


def _answer_to_own_finding(release: TargetRelease, item: Diagnostic) -> _TargetAnswer:
    """Return whether a release loads a model with a finding about a program, which may be another one."""
    data = release.data
    names = (release.program, None if data is None else f"{data.product}={data.version}")
    is_about_another = item.by_target.program is None or item.by_target.program not in names
    if is_about_another or item.clause == _FAILING_RUN_CLAUSE:
        return _TargetAnswer.LOADS
    return _TargetAnswer.UNKNOWN if item.clause == _REMOVABLE_NODE_CLAUSE else _TargetAnswer.REFUSES


def _is_compared_later(release: TargetRelease, item: Diagnostic) -> bool:
    """Return whether the release does not check this operand yet.

    It is an input of one of its own operators, whose shape only later releases check.
    """
    domain, name = _domain_and_name(item.operator)
    index = item.at.index if item.at.field == "input" else None
    if index is None or item.clause != _OPERAND_SHAPE_CLAUSE:
        return False
    if release.data is None or domain not in release.data.own_domains:
        return False
    from onnx_lint.spec.operators import BUILT_IN
    from onnx_lint.spec.operators.runtime_releases import comes_later

    schema = BUILT_IN.find(domain, name, 1)  # the domains of programs have one version
    names = [each.name for each in schema.inputs] if schema is not None else []
    return comes_later(release.data.version, name, names[index] if index < len(names) else "")


def _domain_and_name(operator: str | None) -> tuple[str, str]:
    """Return the two parts of an operator such as `com.acme::Op`."""
    domain, _, name = (operator or "").rpartition("::")
    return domain, name


# --- versions


def version_verdicts(
    model: Model, settings: Settings, found: Sequence[Diagnostic], *, rules: Collection[str], unjudged: Sequence[str]
) -> Iterator[TargetVerdict]:
    """Yield the verdict for each version of the target. `rules`: those that ran. `unjudged`: what no rule judged."""
    for version in _versions(settings):
        (judge,) = clauses()[version.clause].rules
        missing = _missing(judge, rules) if model.loaded else ()
        causes = sum(item.clause == version.clause and _is_about(item, version.domain) for item in found)
        state = _state_of_version(version, causes, [*missing, *unjudged, *_not_compared(model, version.domain)])
        yield TargetVerdict(
            version.name,
            state.answer.value,
            state.words,
            state.reason,
            fails_run=_fails_for_lack_of_proof(state, settings),
            verb="support",
        )


class _TargetVersion(Record):
    """A version that the target names."""

    name: str
    clause: str
    """The clause about what the version lacks."""
    parts: str
    """What a model uses of it, in words."""
    domain: str | None = None
    """The domain of the operator set; None for the IR version."""


def _versions(settings: Settings) -> Iterator[_TargetVersion]:
    """Yield the versions of the target."""
    target = settings.target
    if target.ir_version is not None:
        yield _TargetVersion(f"IR version {target.ir_version}", _IR_VERSION_CLAUSE, "fields and types")
    for domain, version in target.opset_versions.items():
        name = f"{visible(domain or DOMAIN_ALIAS)} {version}"
        yield _TargetVersion(name, _OPERATOR_SET_CLAUSE, "operators", domain)


def _is_about(item: Diagnostic, domain: str | None) -> bool:
    """Return whether a finding of the clause about versions is about this domain; None for the IR version."""
    if domain is None:
        return True
    # A finding about a node has its operator, and one about an import has the domain as subject.
    name = item.subject if item.operator is None else _domain_and_name(item.operator)[0]
    return normalized_domain(name or "") == domain


def _not_compared(model: Model, domain: str | None) -> Iterator[str]:
    """Yield what has no version to compare: a model that was not read, nodes of the domain without known signature."""
    if not model.loaded:
        yield "the model could not be read"
    if domain is None or not model.loaded:
        return
    known = (OperatorStatus.KNOWN, OperatorStatus.FUNCTION)
    groups = [each for each in model.operators.alike_nodes if normalized_domain(each.operator.domain) == domain]
    if count := sum(each.count for each in groups if each.operator.status not in known):
        yield f"{counted(count, 'node')} with an unknown operator"


def _state_of_version(version: _TargetVersion, causes: int, unjudged: Sequence[str]) -> _State:
    """Return whether a version supports a model, by the number of findings against it, and by what was not judged."""
    if causes:
        return _State(_TargetAnswer.REFUSES, f"does not support the model: {counted(causes, 'cause')}")
    if unjudged:
        return _unknown(f"not judged: {'; '.join(_shortened(unjudged))}")
    return _State(_TargetAnswer.LOADS, f"supports all {version.parts} that the model uses")
