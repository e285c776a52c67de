# SPDX-License-Identifier: Apache-2.0
"""Rules: generator functions from the model to findings, each with a clause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import EMPTY, Record, replace
from onnx_lint.ir.documents.kinds import NEEDS, Need
from onnx_lint.spec.clauses import EDITIONS, KEYWORDS, Clause
from onnx_lint.wording import MAX_LISTED_ELEMENTS, quote, with_more

__all__ = [
    "Check",
    "Clause",
    "Faults",
    "Finding",
    "Record",
    "Related",
    "Rule",
    "RuleError",
    "alone",
    "conversions_apart",
    "declaration_of_end",
    "deletion_of",
    "findings_of",
    "findings_of_faults",
    "findings_of_nodes",
    "folded",
    "location_beside_model",
    "on_elements",
    "own_clause",
    "replace",
    "reworded",
    "rule",
]

if TYPE_CHECKING:
    from typing import TypeVar

    from onnx_lint.inference.flow.conflict import Conflict, DeclaredValue, Disagreement, NodeConflict
    from onnx_lint.ir.fault import Fault
    from onnx_lint.ir.operators.proposals import Proposals
    from onnx_lint.ir.tensors.external import ExternalData
    from onnx_lint.ir.tensors.numbers import Constant
    from onnx_lint.model import FaultKind, Fix, Graph, Model, Place, ValueInfo

    FaultKey = Callable[[Place, str | None, Place | None, str], object]
    """Returns the group of a fault by its place and name, `Finding.caller`, and `Finding.inner`."""
    FaultIdentity = tuple[Place, str, tuple[Place, ...]]
    """The place of a fault, what is wrong inside of it, and other places, see `Finding.partners`."""
    C = TypeVar("C", bound=Conflict)
    F = TypeVar("F")
    N = TypeVar("N", bound=NodeConflict)

_NAMED: Final = 4
"""The number of places that a folded finding names."""

_MAX_PARTS: Final = 1_000
"""The most faults of a folded finding that are known by themselves."""

ALSO_SUPPRESSED: Final = "it would also fix what is suppressed"
"""Why there is no fix for some of the faults that one edit fixes."""

_MAX_OF_NODE: Final = 100
"""The most further conflicts of one node whose places its finding lists."""

_MAX_WITH_NOTES: Final = 3
"""The most of these conflicts that are explained as well: a note about a call lists all its arguments."""


class Related(Record):
    """Another place that belongs to a finding, such as the first of two definitions, with a message about it."""

    place: Place
    message: str


class Finding(Record):
    """A fault that a rule found at one place. The engine adds severity, rule id and file."""

    place: Place
    message: str
    clause: str | None = None
    """The violated clause. A rule that checks only one clause may leave it out."""
    related: tuple[Related, ...] = ()
    allowed: str | None = None
    """The valid content of that place, in a few words."""
    offset: int | None = None
    """The byte at which the fault begins, if known more precisely than the place."""
    subject: str | None = None
    """The name that the finding is about, for a fingerprint that does not change when a node is inserted."""
    length: int | None = None
    """The number of bytes of the fault, from `offset` on."""
    collective: bool = False
    """True if it is about all places of its kind. The place is then the first, and only `subject` identifies it."""
    count: int = 1
    """The number of faults that it reports."""
    anchor: str | None = None
    """The section of the specification, if it differs from that of the clause: the operator of a clause about several.
    """
    cause: str | None = None
    """A key that all findings of one cause share, such as operator, operand and kind of fault. A report folds these
    findings into one; a baseline still identifies each of them. None for a finding that is never folded.
    """
    hint: str | None = None
    """A short instruction for fixing this finding; None if there is only the general one of the rule."""
    fix: Fix | str | None = None
    """The edits that fix it, or the reason why there are none although the rule has a fix. If findings share a fix, it
    fixes all of them."""
    case: str | None = None
    """The case of the clause, if `Clause.accepted_by` distinguishes several, such as `constant`."""
    parts: FaultParts | Faults | None = None
    """The faults of a finding about several, if each has a place of its own."""
    is_cause_shared: bool = False
    """True if findings of other rules with that cause are folded together with it."""
    program: str | None = None
    """The program of `--target` that it is about, such as `onnxruntime=1.17`."""
    inner: str = ""
    """What is wrong inside of the place if it has no place of its own: `dimension 2` of a value, or `element 3` of a
    list. A baseline compares it."""
    elements: Faults | None = None
    """All wrong elements or dimensions of the value, if the finding names the first of several. A baseline compares
    each of them, and a suppression that names one leaves the others."""
    user: Place | None = None
    """The node that makes the value wrong, if the place is outside of it, such as that of an initializer. A baseline
    compares it, and a suppression may name it."""
    partners: tuple[Place, ...] = ()
    """Other places without which it is another finding: the node that defines a value too late, the other nodes of a
    cycle, the call with these arguments. A baseline compares them."""
    caller: Place | None = None
    """The first call that leads to a fault in the body of a function. A suppression may name it."""
    element: str = ""
    """The place of the only wrong element as a suppression gives it, if that suppresses it; the engine adds it."""
    proposals: Proposals | None = None
    """Changes that may fix it. The engine tries each on the whole model, and makes the hint of those that do."""
    former: Finding | None = None
    """The finding at the place where an older version had it: baselines that this version wrote know it as well."""


class FaultParts(Record):
    """The findings on single faults, which `folded` makes one finding of."""

    findings: tuple[Finding, ...]
    """The first ones."""
    others: int
    """The number of further faults."""
    subject: str | None
    more: tuple[str, str]
    fix_at: Callable[[Set[Place]], Fix | str | None] | None = None
    """Returns the fix of the faults at some of the places; None to choose the edits at these places."""

    is_one_fault = False

    def whole(self) -> Finding:
        """Return the finding about all of them."""
        first, *others = self.findings
        further = len(others) + self.others
        one, several = self.more
        more = f"{further:,} {one if further == 1 else several}"
        return replace(
            first,
            message=with_more(first.message, more) if further else first.message,
            related=(*first.related, *(Related(other.place, other.message) for other in others[: _NAMED - 1])),
            subject=self.subject,
            collective=True,
            count=1 + further,
            parts=self,
        )

    @property
    def first(self) -> tuple[Place, str | None]:
        """The place and the name of the first fault."""
        return self.findings[0].place, self.findings[0].subject

    def are_few(self, most: int) -> bool:
        """Return whether there are at most `most` faults."""
        return len(self.findings) <= most

    def alone(self, most: int) -> list[Finding | None]:
        """Return the finding on each of the first faults."""
        return list(self.findings[:most])

    def identities(self) -> Iterator[FaultIdentity]:
        """Yield what a baseline compares of each fault."""
        return ((part.place, part.inner, part.partners) for part in self.findings)

    def split(self, finding: Finding, key: FaultKey) -> list[Finding]:
        """Return a finding for the faults of each key, with that part of the fix; further faults have the key None."""
        groups: dict[object, list[Finding]] = {None: []} if self.others else {}
        for part in self.findings:
            groups.setdefault(key(part.place, part.subject, part.caller, part.inner), []).append(part)
        if len(groups) == 1 or not all(groups.values()):
            return [finding]
        pieces = []
        for each, group in groups.items():
            piece = replace(self, findings=tuple(group), others=self.others if each is None else 0).whole()
            fix = self._fix_of(finding, group)
            if each is not None and fix == ALSO_SUPPRESSED:
                fix = finding.fix  # not made, and by it findings of other rules are found that it would also fix
            pieces.append(replace(piece, fix=fix, clause=finding.clause, case=finding.case))
        return pieces

    def _fix_of(self, finding: Finding, group: Sequence[Finding]) -> Fix | str | None:
        """Return the fix of some of the faults, or why there is none."""
        fix, places = finding.fix, {part.place for part in group}
        if not fix or isinstance(fix, str):
            return fix
        if self.fix_at is not None:
            return self.fix_at(places)
        all_places = {part.place for part in self.findings}
        return fix.only_at(places) if fix.only_at(all_places) is not None else ALSO_SUPPRESSED


class Faults(Record):
    """The faults of a finding that a rule words for all of them, and can word for some of them."""

    faults: Sequence[Any] | Callable[[], Sequence[Any]]
    """What the rule knows of each fault."""
    finding: Callable[[Any], Finding | None]
    """Returns the finding on some of them, which are a list; None if a bug prevents describing them."""
    part: Callable[[Any], tuple[Place, str | None]]
    """Returns the place and the name of one."""
    is_one_fault: bool = True
    """True if they are uses of one fault, or examples of a habit: a baseline knows it if it lists any of them."""
    inner: Callable[[Any], str] = lambda _: ""
    """Returns what is wrong inside of the place of one, see `Finding.inner`."""
    partners: Callable[[Any], tuple[Place, ...]] = lambda _: ()
    """Returns the other places of one, see `Finding.partners`."""
    caller: Callable[[Any], Place | None] = lambda _: None
    """Returns the call of one, see `Finding.caller`."""

    @classmethod
    def of_entries(
        cls,
        finding: Callable[[Graph, Sequence[int]], Finding],
        graph: Graph,
        field: str,
        names: Sequence[str],
        indices: Sequence[int],
    ) -> Faults:
        """Return the faults that are entries of a list of a graph, by their indices.

        `finding`: returns the finding on some of them. `names`: those of all entries of the list.
        """
        return cls(indices, partial(finding, graph), lambda index: (graph.at(field, index), names[index]))

    def all(self) -> Sequence[Any]:
        """Return the faults."""
        return self.faults() if callable(self.faults) else self.faults

    @property
    def first(self) -> tuple[Place, str | None]:
        """The place and the name of the first fault."""
        return self.part(self.all()[0])

    def are_few(self, most: int) -> bool:
        """Return whether there are at most `most` faults."""
        return len(self.all()) <= most

    def alone(self, most: int) -> list[Finding | None]:
        """Return the finding on each of the first faults."""
        return [self.finding([fault]) for fault in self.all()[:most]]

    def identities(self) -> Iterator[FaultIdentity]:
        """Yield what a baseline compares of each fault."""
        return ((self.part(fault)[0], self.inner(fault), self.partners(fault)) for fault in self.all())

    def split(self, finding: Finding, key: FaultKey) -> list[Finding]:
        """Return a finding for the faults of each key."""
        groups: dict[object, list[Any]] = {}
        for fault in self.all():
            groups.setdefault(key(*self.part(fault), self.caller(fault), self.inner(fault)), []).append(fault)
        if len(groups) < 2:
            return [finding]
        made = [self.finding(group) for group in groups.values()]
        return [replace(each, program=each.program or finding.program) for each in made if each is not None]


def reworded(finding: Finding, change: Callable[[Finding], Finding]) -> Finding:
    """Return the changed finding; a part of it changes the same way."""
    made, parts, elements = change(finding), finding.parts, finding.elements
    if isinstance(parts, Faults):
        made = replace(made, parts=_reworded_faults(parts, change))
    return made if elements is None else replace(made, elements=_reworded_faults(elements, change))


def _reworded_faults(faults: Faults, change: Callable[[Finding], Finding]) -> Faults:
    again = faults.finding

    def finding_on(some: Sequence[Any]) -> Finding | None:
        found = again(some)
        return None if found is None else reworded(found, change)

    return replace(faults, finding=finding_on)


def elements_of(
    finding: Finding,
    elements: Sequence[F] | Callable[[], Sequence[F]],
    again: Callable[[Sequence[F]], Finding | None],
    at: Callable[[F], tuple[Place, str]],
    subject: Callable[[F], str | None] | None = None,
    partners: Callable[[F], tuple[Place, ...]] | None = None,
    caller: Callable[[F], Place | None] = lambda _: None,
) -> Finding:
    """Return the finding with all wrong elements of its value, see `Finding.elements`.

    `again`: returns the finding on some of them. `at`: returns the place of one, and what is wrong inside of it.
    `subject`, `partners`: return the name and the other places of one, if they differ.
    """
    faults = Faults(
        elements,
        again,
        lambda each: (at(each)[0], finding.subject if subject is None else subject(each)),
        is_one_fault=False,
        inner=lambda each: at(each)[1],
        partners=(lambda _: finding.partners) if partners is None else partners,
        caller=caller,
    )
    return replace(finding, elements=faults)


def on_elements(
    finding: Callable[[F, int], Finding], first: F, count: int, elements: Sequence[F] | Callable[[], Sequence[F]]
) -> Finding:
    """Return the finding on the first of `count` wrong elements of a value, with all of them.

    `finding`: returns the finding on one, if so many are wrong. `elements`: the wrong elements, or what returns the
    first ones.
    """

    def again(some: Sequence[F]) -> Finding:
        return on_elements(finding, some[0], len(some), some)

    def at(element: F) -> tuple[Place, str]:
        found = finding(element, 1)
        return found.place, found.inner

    known = elements if callable(elements) else elements[:MAX_LISTED_ELEMENTS]
    return elements_of(finding(first, count), known, again, at, lambda each: finding(each, 1).subject)


def alone(finding: Finding) -> Finding:
    """Return a collective finding about a single fault: the same fault at another place is then another finding."""
    return replace(finding, parts=FaultParts((finding,), 0, finding.subject, ("", "")))


def on_numbers(
    constant: Constant,
    is_wrong: Callable[[float], bool],
    finding: Callable[[str, str], Finding],
    among: Sequence[int] | None = None,
) -> Finding:
    """Return the finding on the wrong numbers of a constant.

    `finding`: returns it from the words for the first number, and for which it is. `among`: the indices of the numbers
    that count; None for all.
    """
    whole = finding(*constant.first(is_wrong, among))
    return elements_of(
        whole,
        partial(constant.indices, is_wrong) if among is None else among,
        partial(on_numbers, constant, is_wrong, finding),
        lambda index: (whole.place, f"element {index}"),
    )


Check = Callable[..., Iterator[Finding]]

RuleSubject = str | Callable[["Model"], object]
"""What a rule is about, which is false or empty for a model without anything of the kind.

The name of a function of `onnx_lint.model`, or `Model.` and the name of a cached property; of a plugin's own function
the function itself.
"""


class Rule(Record):
    """A rule as the registry keeps it."""

    id: str
    check: Check
    clauses: tuple[str, ...]
    since: str
    needs: Need = "model"
    """The parts that a document must have for a check. A rule that needs only the file checks any bytes."""
    security: tuple[str, ...] = ()
    """The vulnerabilities (CVE, GHSA or CWE ids) that a model that breaks the rule exploits."""
    about: RuleSubject | None = None
    """None if the rule always runs."""
    flag: tuple[str, str] | None = None
    """An option of the command line without a value, and the option of the rule that it sets to true."""
    own_clauses: tuple[Clause, ...] = ()
    """The clauses among `clauses` that are not of the specification, see `own_clause`."""
    kinds: Mapping[str, str] = EMPTY
    """What options allow beyond their types, by names of `onnx_lint.engine.option_kinds.OPTION_KINDS`."""

    @property
    def summary(self) -> str:
        """The first line of the documentation: what is wrong, in one sentence."""
        return self.documentation.partition("\n")[0]

    @property
    def documentation(self) -> str:
        """The docstring of the rule, in Markdown."""
        import inspect

        return inspect.getdoc(self.check) or ""

    @property
    def options(self) -> dict[str, Any]:
        """The options of the rule, which are its keyword-only parameters, with their defaults."""
        import inspect

        parameters = inspect.signature(self.check).parameters.values()
        return {option.name: option.default for option in parameters if option.kind is option.KEYWORD_ONLY}

    @property
    def option_types(self) -> dict[str, Any]:
        """The type of each option."""
        from onnx_lint.common.option_types import option_types

        return option_types(self.check, self.options)


class RuleError(Exception):
    """A rule that cannot run, with a sentence for its author."""


_KEYWORD_OF: Final = {"error": "MUST", "warning": "SHOULD", "note": "MAY"}
_CLAUSE_ID: Final = "[A-Z][A-Z0-9]*(-[A-Z0-9]+)+"


def own_clause(name: str, text: str, *, keyword: str = "MUST", url: str = "") -> Clause:
    """Return a clause that is not part of the ONNX specification, for rules of a plugin.

    `name`: its id, capital letters and digits with dashes, such as `ACME-1`. The specification must not use the part
    before the first dash. `text`: the requirement, in one sentence. `keyword`: a keyword of RFC 2119, or the severity
    of its findings (`error`, `warning` or `note`). `url`: where to read more. Raises ValueError for another name or
    keyword.
    """
    word = _KEYWORD_OF.get(keyword, keyword)
    words = [known for known in KEYWORDS if known.isupper()]
    if word not in words:
        raise ValueError(
            f"clause {name!r}: keyword must be one of {', '.join([*words, *_KEYWORD_OF])}, not {keyword!r}"
        )
    if re.fullmatch(_CLAUSE_ID, name) is None:
        raise ValueError(f"the id of a clause has capital letters and digits with dashes, such as ACME-1, not {name!r}")
    return Clause(
        id=name,
        summary=text,
        chapter="own",
        anchor=url,
        since=1,
        until=None,
        keyword=dict.fromkeys(EDITIONS, word),
        static="yes",
        rules=(),
        reason=None,
        presence="listed",
        counted=(),
        note=None,
        refines=None,
    )


def rule(
    *,
    clause: str | Clause | tuple[str | Clause, ...],
    since: str,
    needs: Need = "model",
    security: tuple[str, ...] = (),
    about: cached_property[Any] | Callable[[Model], object] | None = None,
    flag: tuple[str, str] | None = None,
    kinds: Mapping[str, str] = EMPTY,
) -> Callable[[Callable[..., Iterator[Finding]]], Rule]:
    """Return a decorator that makes a rule of a generator function from a Model to findings.

    `clause`: the clause or clauses that the rule checks: ids of the specification, or results of `own_clause`.
    `since`: the first version of onnx-lint (of the package, for a plugin) with the rule. `needs`: what the rule needs
    to see completely. It decides the kinds of document that the rule checks, see `Need`. `security`: ids of the
    vulnerabilities that it guards against. `about`: a function of a model, such as `has_initializers`, or a cached
    property of Model, such as `Model.external_data`. The rule is skipped for a model for which it is false or empty.
    `flag`: an option of the command line, and the option of the rule that it turns on. `kinds`: what options allow
    beyond their types, such as `{"max_bytes": "whole"}` for a whole number of at least 1. Another value ends the run
    with exit code 2.

    The id of the rule is the function's name with dashes.
    Raises ValueError if `about` is a property of another class, or `needs` is not a `Need`.
    """
    if needs not in NEEDS:
        raise ValueError(f"needs must be one of {', '.join(NEEDS)}, not {needs!r}")
    subject = None if about is None else _subject(about)

    def make(check: Check) -> Rule:
        given = clause if isinstance(clause, tuple) else (clause,)
        return Rule(
            check.__name__.replace("_", "-"),
            check,
            tuple(each if isinstance(each, str) else each.id for each in given),
            since,
            needs,
            security,
            subject,
            flag,
            tuple(each for each in given if not isinstance(each, str)),
            kinds,
        )

    return make


def _subject(about: cached_property[Any] | Callable[[Model], object]) -> RuleSubject:
    """Return the name by which the subject is found without the rule, or the function if it has none."""
    from onnx_lint import model  # late, since a run whose verdicts are all in the cache needs no model

    if isinstance(about, cached_property):
        if getattr(model.Model, about.name, None) is not about:
            raise ValueError(f"about must be a function of a model or a property of Model, not {about.name!r}")
        return f"Model.{about.name}"
    name = getattr(about, "__name__", "")
    return name if getattr(model, name, None) is about else about


def folded(
    faults: Iterable[F],
    finding: Callable[[F], Finding],
    subject: str | None,
    more: tuple[str, str],
    fix_at: Callable[[Set[Place]], Fix | str | None] | None = None,
) -> Iterator[Finding]:
    """Yield one finding about all of the faults; nothing if there are none.

    It is the finding on the first fault; the next few are its related places, and the others are counted. `finding`:
    returns the finding on one fault. `subject`: the name of the graph that has them all; None for the model. `more`:
    the words for one and for several further faults, such as `("more node repeats a name", "more nodes repeat a
    name")`. `fix_at`: returns the fix of the faults at some of the places, for a fix with edits elsewhere.
    """
    left = iter(faults)
    parts = tuple([finding(fault) for fault in islice(left, _MAX_PARTS)])
    if parts:
        yield FaultParts(parts, sum(1 for _ in left), subject, more, fix_at).whole()


def by_share(model: Model, findings: Iterable[Finding], often: str, seldom: str) -> Iterator[Finding]:
    """Yield the findings on nodes.

    Those without a clause get `often` if they are three or more and a tenth of the model's nodes, or a thousand;
    otherwise `seldom`.
    """
    nodes = sum(sum(graph.form_counts.values()) for graph in model.graphs)
    least = min(max(3, (nodes + 9) // 10), 1_000)  # so many findings wait
    waiting: list[Finding] = []
    count = 0
    for finding in findings:
        count += finding.clause is None
        waiting.append(finding)
        if count >= least:
            yield from (replace(each, clause=each.clause or often) for each in waiting)
            waiting.clear()
    yield from (replace(each, clause=each.clause or seldom) for each in waiting)


def deletion_of(declared: DeclaredValue) -> Fix | str:
    """Return the fix that deletes a declaration in `value_info`; for one of an output the reason why there is none."""
    if declared.field != "value_info":
        return "the declaration of the output or its node may be wrong"
    from onnx_lint.model import Delete, Fix

    entry = declared.graph.at("value_info", declared.index)
    message = f"delete value info {quote(declared.subject)} of {declared.graph.describe()}"
    return Fix(message, (Delete(entry),), trusts=(declared.graph.place, declared.subject))


def declaration_of_end(model: Model, value: ValueInfo) -> Fix | str:
    """Return the fix that declares an output of a graph as what follows from its node, or why there is none.

    `value`: an input or output of a graph.
    """
    if value.role != "output":
        return "no node decides it"
    from onnx_lint.inference.shapes.stated import type_stating
    from onnx_lint.model import Assign, Fix

    name = value.proto.name
    proto = type_stating(model.value_flow.fact_of(name, value.graph))
    if proto is None:
        return "the type and shape do not follow from the node"
    what = f"declare output {quote(name)} with the type and shape that follow from its node"
    return Fix(what, (Assign(value.place.at("type"), proto),), is_safe=False)


def location_beside_model(users: Sequence[ExternalData], used: Set[str] | None = None) -> Fix | str | None:
    """Return the fix that takes a file beside the model for a file that moved, or why there is none.

    None if no files are looked up.

    `users`: tensors with one location. `used`: if they are all with it, the files of the other tensors; a file of
    another name and of the size that the tensors need is then taken. Unsafe: nothing says that it is the same file.
    """
    if not users[0].can_propose_files:
        return None
    name = users[0].find_moved_file() if users[0].location else None
    if name is None and used is not None:
        name = users[0].find_file_of_size(max(data.required_file_size for data in users), used)
    elif name is not None and any(data.find_moved_file() != name for data in users):
        name = None
    if name is None:
        return "no file beside the model has this name and enough bytes, or is the only one of the right size"
    from onnx_lint.model import Assign, Fix

    where = "" if "/" in name else " beside the model"
    return Fix.of_many(
        f"take the values from {quote(name)}{where}",
        len(users),
        lambda: (Assign(data.entry_place("location").at("value"), name) for data in users),
        is_safe=False,
    )


def conversions_apart(model: Model, conflicts: Iterable[C]) -> Iterator[C]:
    """Return the conflicts without the missing conversions of optionals, if another clause of the edition is on these.

    Editions from 1.16 on have one, which `unconverted-optional` checks.
    """
    has_conversions = model.standard.at_least("1.16")
    return (conflict for conflict in conflicts if not (has_conversions and conflict.lacks_conversion))


def findings_of(
    model: Model,
    conflict: Disagreement,
    clause: str | None = None,
    anchor: str | None = None,
    fix: Fix | str | None = None,
    cause: str | None = None,
) -> Iterator[Finding]:
    """Yield the finding for a conflict. If a bug prevents describing it, record the crash and yield nothing.

    `clause`: needed for a rule that checks several. `anchor`, `fix`, `cause`: as for a Finding.
    """
    with model.crashes.at("describing a finding", lambda: conflict.place):
        yield Finding(
            conflict.place,
            conflict.describe(),
            clause=clause,
            related=tuple(Related(*note) for note in conflict.notes()),
            allowed=conflict.allowed,
            subject=conflict.subject,
            anchor=anchor,
            fix=fix,
            cause=cause,
            inner=conflict.inner,
            partners=_calls_of(conflict),
        )


def _calls_of(conflict: Disagreement) -> tuple[Place, ...]:
    """Return the call whose arguments lead to a conflict in the body of a function, and the calls around it."""
    call = getattr(conflict, "call", None)  # one of dimension variables has none
    places = []
    while call is not None:
        places.append(call.node.place)
        call = call.around
    return tuple(places)


def findings_of_fields(faults: Iterable[Fault], finding: Callable[[Fault, str], Finding]) -> Iterator[Finding]:
    """Yield one finding for all faults that one field of a kind of message has in the file, at the first of them.

    `finding`: returns what is wrong with a fault; the text is for the end of its message, and says how many there are.
    """
    found: dict[str, list[Fault]] = {}
    for fault in faults:
        found.setdefault(_field(fault), []).append(fault)
    yield from (_of_field(finding, each) for each in found.values())


def _field(fault: Fault) -> str:
    return f"{fault.message_type} {fault.number}"


def _of_field(finding: Callable[[Fault, str], Finding], faults: Sequence[Fault]) -> Finding:
    first = faults[0]
    return replace(
        finding(first, f" ({len(faults):,} occurrences)" if len(faults) > 1 else ""),
        offset=first.offset,
        length=first.length,
        subject=_field(first),
        collective=True,
        parts=Faults(faults, partial(_of_field, finding), lambda fault: (fault.place, _field(fault))),
    )


def findings_of_faults(model: Model, kind: FaultKind, allowed: str, hint: str | None = None) -> Iterator[Finding]:
    """Yield the finding for each fault of one kind in the file, with its bytes.

    `hint`: what to do about a fault that does not say it itself.
    """
    for fault in model.faults_of(kind):
        yield Finding(
            fault.place,
            fault.message,
            allowed=allowed,
            offset=fault.offset,
            length=fault.length,
            hint=fault.hint or hint,
        )


def findings_of_nodes(
    model: Model, conflicts: Iterable[tuple[N, str]], fix: Callable[[list[N]], Fix | str | None] | None = None
) -> Iterator[Finding]:
    """Yield one finding for each node and clause: on the first conflict, with the places of the others as related ones.

    `conflicts`: each with the clause that it breaks. `fix`: returns the fix for the conflicts of a finding.
    """
    # Each node is described when its turn comes: a limit on findings ends the work as well.
    of_nodes: dict[tuple[Place, str], list[N]] = {}
    for conflict, clause in conflicts:
        of_nodes.setdefault((conflict.node.place, clause), []).append(conflict)
    for (_, clause), own in of_nodes.items():
        found = _on_node(model, clause, fix, own)
        if found is not None:
            yield found


def _on_node(
    model: Model,
    clause: str,
    fix: Callable[[list[N]], Fix | str | None] | None,
    conflicts: list[N],
    elements: Callable[[], list[tuple[int, N]]] | None = None,
) -> Finding | None:
    """Return the finding on conflicts of one node; None if a bug prevents describing the first.

    `elements`: returns the conflict for each wrong element, with the number of the conflict that has several.
    """
    conflict, *others = conflicts
    fixes = None if fix is None else fix(conflicts)
    for first in findings_of(model, conflict, clause, fix=fixes):
        with model.crashes.at("looking for a change with which shapes fit", conflict.node):
            first = replace(first, cause=conflict.cause, proposals=conflict.proposals)
        first = elements_of(
            first,
            elements or partial(_elements_of_node, conflicts),
            partial(_on_elements, model, clause, fix),
            lambda each: (each[1].place, each[1].inner_of_node),
            lambda each: each[1].subject,
            lambda each: _calls_of(each[1]),
            lambda each: _caller_of(each[1]),
        )
        first = _with_calls(first, conflicts, elements)
        is_outside = any(each.place.key[: len(each.node.place.key)] != each.node.place.key for each in conflicts)
        first = replace(first, user=conflict.node.place if is_outside else None)
        if not others:
            return first
        again = partial(_on_node, model, clause, fix)
        return replace(
            _with_others(model, first, others),
            parts=Faults(
                conflicts,
                again,
                lambda each: (each.place, each.subject),
                is_one_fault=False,
                inner=lambda each: each.inner,
                partners=_calls_of,
            ),
        )
    return None


def _with_calls(finding: Finding, conflicts: list[N], elements: Callable[[], list[tuple[int, N]]] | None) -> Finding:
    """Return the finding with the first call that leads to it, and the number of the others."""
    caller = _caller_of(conflicts[0])
    if caller is None:
        return finding
    count = len({_calls_of(each) for _, each in (elements or partial(_elements_of_node, conflicts))()}) - 1
    more = f"{count:,} more {'call has' if count == 1 else 'calls have'} this fault"
    return replace(finding, caller=caller, message=with_more(finding.message, more) if count else finding.message)


def _caller_of(conflict: Disagreement) -> Place | None:
    return next(iter(_calls_of(conflict)), None)


def _elements_of_node(conflicts: Sequence[N]) -> list[tuple[int, N]]:
    """Return the conflict for each wrong element of each of some conflicts, with the number of these."""
    from onnx_lint.inference.flow.conflict import for_each_call

    return [
        (number, each)
        for number, conflict in enumerate(conflicts)
        for of_call in for_each_call(conflict)
        for each in of_call.apart()
    ]


def _on_elements(
    model: Model,
    clause: str,
    fix: Callable[[list[N]], Fix | str | None] | None,
    elements: Sequence[tuple[int, N]],
) -> Finding | None:
    """Return the finding on some wrong elements of the values of a node."""
    firsts: dict[int, N] = {}
    for number, conflict in elements:
        firsts.setdefault(number, conflict)
    return _on_node(model, clause, fix, list(firsts.values()), lambda: list(elements))


def _with_others(model: Model, first: Finding, others: Sequence[NodeConflict]) -> Finding:
    """Return the finding on the first conflict of a node with the places of the next ones and the number of all."""
    related, causes = list(first.related), {str(first.cause): None}
    shown = {first.place, *(each.place for each in related)}
    for number, other in enumerate(others[:_MAX_OF_NODE]):
        with model.crashes.at("describing a finding", other.node):
            # The message of the finding names the node.
            message = other.describe().replace(f" of {other.node.describe()}", "", 1)
            related.append(Related(other.place, message))
            if number < _MAX_WITH_NOTES:  # another call of a function may cause the next fault
                notes = [Related(*note) for note in other.notes() if note[0] not in shown]
                related += notes
                shown.update(each.place for each in notes)
            causes[other.cause] = None
    more = f"{len(others):,} more such {'fault' if len(others) == 1 else 'faults'}"
    return replace(
        first,
        message=with_more(first.message, f"the node has {more}"),
        related=tuple(related),
        count=1 + len(others),
        cause="; ".join(causes),
    )
