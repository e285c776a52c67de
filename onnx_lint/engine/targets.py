# SPDX-License-Identifier: Apache-2.0
"""What the programs that `--target` names do with a model: the one place where a target changes a verdict.

Rules of ONNX's chapters have the same findings with and without a target. Here these get the severity that follows from
the target, and a line about each program. Whether a model conforms to ONNX depends on neither.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.common.visible import visible
from onnx_lint.engine.settings import Settings
from onnx_lint.engine.unjudged_nodes import unjudged_nodes
from onnx_lint.engine.unjudged_parts import unjudged_by_full_check, unjudged_by_onnx, unjudged_tensors
from onnx_lint.engine.unseen_faults import UnseenFaults
from onnx_lint.model import Model, OperatorStatus
from onnx_lint.report.file_report import TargetVerdict
from onnx_lint.report.findings import ByTarget, Diagnostic
from onnx_lint.spec.clauses import Clause, Severity, clauses, place_kind
from onnx_lint.spec.products import ProductRelease
from onnx_lint.spec.releases import DOMAIN_ALIAS, is_onnx_domain, normalized_domain
from onnx_lint.spec.target import (
    CHECKER,
    CONTRIBUTED,
    FULL_CHECK,
    OWN_OPERATOR,
    UNSEEN,
    accepting,
    refused_since,
    releases_of,
    title,
)
from onnx_lint.wording import counted, listed

_OF_TARGET: Final = "target"
"""The chapter that declares the clauses about programs."""
_OF_FULL_CHECK: Final = f"; the target {FULL_CHECK} is about full_check=True"
"""The end of the line about `onnx.checker`, for the first release that knows both."""


class TargetJudge:
    """Judges a model by the target of the settings. What findings and verdicts need of the model is found once."""

    def __init__(self, model: Model, settings: Settings) -> None:
        self._unseen = UnseenFaults(model)
        self._settings = settings

    def with_target(self, found: list[Diagnostic]) -> list[Diagnostic]:
        """Return the findings with what the programs of the target do with each, and the severity that follows."""
        if not self._settings.target.programs:
            return found
        return [_with_target(item, self._unseen, self._settings) for item in found]

    def verdicts(
        self, found: Sequence[Diagnostic], rules: Collection[str], gaps: Sequence[str], unjudged: Sequence[str]
    ) -> Iterator[TargetVerdict]:
        """Yield the verdict for each program, and for each version of the target.

        `found`: all findings in the file. `rules`: those that checked it. `gaps`: what the settings left out, in words.
        `unjudged`: what else was not judged.
        """
        yield from _of_programs(self._unseen, self._settings, found, rules, (*gaps, *unjudged))
        yield from _of_versions(self._unseen.model, self._settings, found, rules, unjudged)


def _with_target(item: Diagnostic, unseen: UnseenFaults, settings: Settings) -> Diagnostic:
    clause = clauses()[item.clause]
    effects = [_effect(program, clause, item, unseen) for program in settings.target.programs]
    severity = item.severity if item.rule in settings.severities else _severity(item, clause, effects, settings)
    if severity is item.severity and not any(each.said for each in effects):
        return item
    releases: dict[str, tuple[str, ...]] = {}
    for each in effects:
        if each.accepts and item.cited.case != OWN_OPERATOR:  # then the operands and attributes are not judged
            releases[each.name] = tuple(dict.fromkeys((*releases.get(each.name, ()), *each.releases)))
    return replace(
        item,
        severity=severity,
        by_target=ByTarget(
            item.by_target.program,
            refused_by=tuple({each.name: each.since for each in effects if each.refuses}.items()),
            accepted_by=tuple(releases.items()),
            answers=tuple((title(each.program), each.said) for each in effects if each.said),
        ),
    )


def _severity(item: Diagnostic, clause: Clause, effects: Sequence[_Effect], settings: Settings) -> Severity:
    """Return the severity that follows from what the programs do: an error if one of them refuses the violation.

    A warning if all of them accept it, or if the gate is about refusals only and the clause about the model itself.
    """
    if any(each.refuses for each in effects):
        return Severity.ERROR
    if settings.target.is_onnx:
        return item.severity
    is_harmless = (
        settings.target_gate == "refused" and item.cited.declared_by is None and clause.chapter not in _OF_FILES
    )
    return (
        min(item.severity, Severity.WARNING) if is_harmless or all(each.accepts for each in effects) else item.severity
    )


_OF_FILES: Final = ("file", "external-data")
"""The chapters of faults that may make a program read something else, or nothing."""


def _case(item: Diagnostic, program: str, release: ProductRelease | None, unseen: UnseenFaults) -> str | None:
    """Return the case of a finding for a program: ONNX Runtime has the signatures of its own operators."""
    if unseen.model.loaded and unseen.has(item, program, release):
        return UNSEEN
    is_contributed = item.anchor.startswith(_CONTRIBUTED) and item.cited.case in ("main", "branch")
    return (
        CONTRIBUTED if is_contributed and release is not None and release.has_kernels else _stated_case(item, release)
    )


_CONTRIBUTED: Final = "ContribOperators.md#"
"""The document that describes the operators of ONNX Runtime."""


class _Effect(Record):
    """What a program does with a violation of a clause."""

    program: str
    since: str
    """The first release that is known to refuse it, if the program does; otherwise empty."""
    releases: tuple[str, ...]
    """The releases that prove that it accepts it, if the program does; otherwise empty."""
    said: str
    """The same in words; empty if nothing is known."""

    @property
    def name(self) -> str:
        return self.program.partition("=")[0]

    @property
    def refuses(self) -> bool:
        return bool(self.since)

    @property
    def accepts(self) -> bool:
        return bool(self.releases)


def _stated_case(item: Diagnostic, release: ProductRelease | None) -> str | None:
    """Return the case of a finding. For the checks of onnx an operator of ONNX Runtime is as unknown as any other."""
    if release is None and item.cited.case == OWN_OPERATOR:
        return place_kind([field for field, _ in item.at.key])
    return item.cited.case


def _effect(program: str, clause: Clause, item: Diagnostic, unseen: UnseenFaults) -> _Effect:
    """Return what a program does with a violation. For a release without data, that is what both its neighbours do."""
    if not clause.refused_by and not clause.accepted_by and item.cited.case != OWN_OPERATOR:
        return _Effect(program, "", (), "")
    releases = releases_of(program)
    since = [refused_since(clause, _case(item, program, release, unseen), program, release) for release in releases]
    proofs = [accepting(clause, _stated_case(item, release), item.subject, program, release) for release in releases]
    first = since[0] if all(since) else None
    accepted = tuple(dict.fromkeys(each for proof in proofs for each in proof)) if all(proofs) else ()
    known = [release for release in releases if release is not None]
    if not known:
        said = _of_onnx(first, accepted)
    elif item.cited.case == OWN_OPERATOR:
        said = _of_owners(accepted)
    else:
        said = _of_releases(known, since, proofs)
    return _Effect(program, first or "", accepted, said)


def _of_onnx(first: str | None, accepted: Sequence[str]) -> str:
    """Return what the checker does: `refuses it (onnx 1.23 tried)`; empty if nothing is known."""
    if first is not None:
        return f"refuses it (onnx {first} tried)"
    return f"accepts it (onnx {' and '.join(accepted)} tried)" if accepted else ""


def _of_owners(releases: Sequence[str]) -> str:
    """Return what is known of an operator of their own; empty if the releases lack it."""
    if not releases:
        return ""
    return "has this operator" if len(releases) == 1 else f"{listed(releases)} have this operator"


def _of_releases(
    releases: Sequence[ProductRelease], since: Sequence[str | None], proofs: Sequence[Sequence[str]]
) -> str:
    """Return `loads it` for one release, `1.17.3 and 1.20.1 load it` for two that agree, and otherwise each of them."""
    verbs = ["refuse" if refusal else "load" if proof else "" for refusal, proof in zip(since, proofs, strict=True)]
    if len(releases) == 1:
        return f"{verbs[0]}s it" if verbs[0] else ""
    if len({*verbs}) == 1:
        return f"{listed([each.version for each in releases])} {verbs[0]} it" if verbs[0] else ""
    return "; ".join(f"{each.version} {verb}s it" for each, verb in zip(releases, verbs, strict=True) if verb)


def _of_programs(
    unseen: UnseenFaults, settings: Settings, found: Sequence[Diagnostic], rules: Collection[str], gaps: Sequence[str]
) -> Iterator[TargetVerdict]:
    """Yield the verdict for each program; see `TargetJudge.verdicts`."""
    (judge,) = clauses()["PRD-1"].rules
    for program in settings.target.programs:
        releases = releases_of(program)
        missing = () if judge in rules or releases == (None,) else (f"the rule {judge} did not run",)
        states = [_state(unseen, found, program, release, (*missing, *gaps)) for release in releases]
        state = _joined(states, releases)
        yield TargetVerdict(
            title(program),
            state.loads,
            state.answer,
            state.reason,
            fails_run=_fails_run(state, settings),
            verb="accept" if releases == (None,) else "load",
            basis=_basis_of(releases),
            suffix=_OF_FULL_CHECK if program == CHECKER else "",
        )


def _of_versions(
    model: Model, settings: Settings, found: Sequence[Diagnostic], rules: Collection[str], unjudged: Sequence[str]
) -> Iterator[TargetVerdict]:
    """Yield the verdict for each version of the target; see `TargetJudge.verdicts`."""
    for name, clause, domain in _versions(settings):
        (judge,) = clauses()[clause].rules
        missing = () if judge in rules or not model.loaded else (f"the rule {judge} did not run",)
        causes = sum(item.clause == clause and _is_of(item, domain) for item in found)
        unknown = [*missing, *unjudged, *_not_compared(model, domain)]
        state = _state_of_version(causes, unknown, "fields and types" if domain is None else "operators")
        yield TargetVerdict(
            name, state.loads, state.answer, state.reason, fails_run=_fails_run(state, settings), verb="support"
        )


def _fails_run(state: _State, settings: Settings) -> bool:
    return state.loads is None and settings.target_gate == "unproven"


# --- versions


def _versions(settings: Settings) -> Iterator[tuple[str, str, str | None]]:
    """Yield each version of the target: what it is called, the clause about it, and its domain; None for IR."""
    target = settings.target
    if target.ir_version is not None:
        yield f"IR version {target.ir_version}", "VER-3a", None
    for domain, version in target.opset_versions.items():
        yield f"{visible(domain or DOMAIN_ALIAS)} {version}", "VER-12a", domain


def _is_of(item: Diagnostic, domain: str | None) -> bool:
    """Return whether a finding of the clause about versions is about this domain."""
    if domain is None:
        return True
    # One about a node has its operator, and one about an import has the domain as subject.
    of = item.operator.rpartition("::")[0] if item.operator is not None else item.subject
    return normalized_domain(of or "") == domain


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


def _state_of_version(causes: int, unjudged: Sequence[str], parts: str) -> _State:
    if causes:
        return _State(False, f"does not support the model: {counted(causes, 'cause')}")
    if unjudged:
        return _unknown_state(f"not judged: {'; '.join(unjudged[:_MAX_REASONS])}")
    return _State(True, f"supports all {parts} that the model uses")


# --- programs


def _basis_of(releases: Sequence[ProductRelease | None]) -> str:
    """Return what the verdict rests on that a program loads a model, as the end of a sentence."""
    if len(releases) > 1:
        return ", as far as their data say"
    (release,) = releases
    return (release.quoted if release is not None else "") or ", as far as its data say"


class _State(Record):
    """What is known of a program or a release."""

    loads: bool | None
    answer: str
    reason: str = ""
    """Why the answer is unknown, see `TargetVerdict.reason`."""


def _unknown_state(reason: str) -> _State:
    return _State(None, reason, reason)


def _joined(states: Sequence[_State], releases: Sequence[ProductRelease | None]) -> _State:
    """Return the verdict on a release: if only its neighbours are known, theirs if they agree."""
    if len(states) == 1:
        return states[0]
    versions = [release.version for release in releases if release is not None]
    answers = {state.loads for state in states}
    if answers == {True}:
        return _State(True, f"{listed(versions)} load it{_basis_of(releases)}")
    if answers == {False}:
        return _State(False, f"{listed(versions)} refuse it")
    if len({state.answer for state in states}) == 1:
        return states[0]
    answers_by_release = zip(versions, states, strict=True)
    return _unknown_state("; ".join(f"{version} {state.answer}" for version, state in answers_by_release))


def _state(
    unseen: UnseenFaults, found: Sequence[Diagnostic], program: str, release: ProductRelease | None, gaps: Sequence[str]
) -> _State:
    answers = [_loads(item, unseen, program, release) for item in found]
    verb = "accept" if release is None else "load"
    if refusing := answers.count(False):
        return _State(False, f"refuses it: {counted(refusing, 'cause')}")
    unknown = [item for item, answer in zip(found, answers, strict=True) if answer is None]
    violations = sum(item.is_violation for item in unknown)
    reasons = [f"{counted(violations, 'violation')} of ONNX"] if violations else []
    unjudged = [*gaps, *_unjudged(unseen.model, program, release)]
    if len(unknown) > violations:
        unjudged.append(_treated_differently([item for item in unknown if not item.is_violation]))
    if len(unjudged) > _MAX_REASONS:  # a file may name thousands of domains
        unjudged[_MAX_REASONS:] = [f"{len(unjudged) - _MAX_REASONS:,} more"]
    if unjudged:
        reasons.append(f"not judged: {'; '.join(unjudged)}")
    if reasons:
        reason = "; ".join(reasons)
        return _State(None, f"not proven to {verb} it: {reason}" if violations else reason, reason)
    return _State(True, f"{'accepts it' if release is None else 'loads'}{_basis_of((release,))}")


_MAX_REASONS: Final = 5


def _treated_differently(found: Sequence[Diagnostic]) -> str:
    """Return how many findings it is not known of whether a program minds them, and their clauses."""
    names = sorted({item.clause for item in found})
    if len(names) > _MAX_REASONS:
        names[_MAX_REASONS:] = [f"{len(names) - _MAX_REASONS} more"]
    return f"{counted(len(found), 'finding')} that programs treat differently ({listed(names)})"


def _unjudged(model: Model, program: str, release: ProductRelease | None) -> Iterator[str]:
    """Yield what the data of a program do not judge, in words."""
    if not model.loaded:
        return
    if release is not None:
        yield from unjudged_nodes(model, release)
        yield from unjudged_tensors(model, release)
    else:
        own = sum(is_onnx_domain(normalized_domain(each.domain)) for each in model.functions)
        if own:
            yield f"{counted(own, 'function')} in a domain of ONNX"
        yield from unjudged_by_onnx(model)
    if program == FULL_CHECK:
        yield from unjudged_by_full_check(model)


def _loads(item: Diagnostic, unseen: UnseenFaults, program: str, release: ProductRelease | None) -> bool | None:
    """Return whether a release loads a model in spite of a finding; None if that is not known."""
    if item.cited.declared_by == _OF_TARGET:
        if item.by_target.program is None or item.by_target.program not in (program, _named(release)):
            return True
        if item.clause == _OF_RUNS:
            return True
        return None if item.clause == _OF_REMOVABLE else False
    clause = clauses()[item.clause]
    if refused_since(clause, _case(item, program, release, unseen), program, release):
        return False
    if accepting(clause, _stated_case(item, release), item.subject, program, release) or _is_before_comparison(
        item, release
    ):
        return True
    # The keyword practice means that consumers refuse it, or differ. They differ about data files as well.
    is_doubtful = item.is_violation or item.keyword == "practice" or clause.chapter == "external-data"
    return None if is_doubtful else True


_OF_REMOVABLE: Final = "PRD-6"
"""The clause about nodes that a program refuses unless it removes them."""

_OF_RUNS: Final = "PRD-7"
"""The clause about nodes that a program loads, and refuses at each run."""


def _is_before_comparison(item: Diagnostic, release: ProductRelease | None) -> bool:
    """Return whether a release does not compare the input, of one of its own operators, that a finding is about."""
    domain, _, name = (item.operator or "").rpartition("::")
    _, is_input, index = str(item.place).rpartition(".input[")
    if release is None or domain not in release.own_domains or item.clause != _OF_SHAPES or not is_input:
        return False
    from onnx_lint.spec.operators import BUILT_IN
    from onnx_lint.spec.operators.runtime_releases import comes_later

    schema = BUILT_IN.find(domain, name, 1)
    names = dict(enumerate(each.name for each in schema.inputs)) if schema is not None else {}
    return comes_later(release.version, name, names.get(int(index.removesuffix("]")), ""))


_OF_SHAPES: Final = "NOD-8a"
"""The clause about the shapes of operands."""


def _named(release: ProductRelease | None) -> str | None:
    return None if release is None else f"{release.product}={release.version}"
