# SPDX-License-Identifier: Apache-2.0
"""What a rule is: a generator from the model to findings, with a clause, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record, replace
from onnx_lint.ir.documents.kinds import NEEDS, Need
from onnx_lint.model import Model, Place

Element = Literal["form"]
"""What stands in models again and again, so that rules need not look at it again: what a node looks like."""

ELEMENTS: Final = get_args(Element)

if TYPE_CHECKING:
    from typing import TypeVar

    from onnx_lint.inference.types.conflict import Conflict, Disagreement

    C = TypeVar("C", bound=Conflict)
    Fault = TypeVar("Fault")


class Related(Record):
    """Another place that belongs to a finding, such as the first of two definitions, and what stands there."""

    place: Place
    message: str


class Finding(Record):
    """What a rule found at one place. Severity, rule id and file are not its business."""

    place: Place
    message: str
    clause: str | None = None
    """The clause that is broken; may be left out by a rule that decides only one."""
    related: tuple[Related, ...] = ()
    allowed: str | None = None
    """What the clause allows there, in a few words."""
    offset: int | None = None
    """The byte at which the fault begins, where it is known better than by the place."""
    subject: str | None = None
    """The name that the finding is about, for a fingerprint that survives the insertion of a node."""
    length: int | None = None
    """How many bytes from `offset` on the fault takes up."""
    collective: bool = False
    """Whether it stands for all places of its kind: the place is only the first, and `subject` alone tells it apart."""
    count: int = 1
    """How many faults it stands for."""
    anchor: str | None = None
    """Where the text stands, if not where the clause says: the operator of a clause that is about several."""


Check = Callable[..., Iterator[Finding]]


class Rule(Record):
    """A rule as the registry keeps it."""

    id: str
    check: Check
    clauses: tuple[str, ...]
    since: str
    needs: Need = "model"
    """What a document has to hold for the rule to judge it; one that needs the file alone judges any bytes."""
    security: tuple[str, ...] = ()
    """The vulnerabilities (CVE, GHSA or CWE ids) that a model that breaks the rule makes use of."""
    about: str | None = None
    """The cached property of Model that is false or empty where the rule finds nothing; None where it always looks."""
    of: Element | None = None
    """That it finds nothing in a model if it finds nothing wrong with any of its elements of this kind by itself."""
    flag: tuple[str, str] | None = None
    """An option of the command line that has no value, and the option of the rule that it sets to true."""

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


def rule(
    *,
    clause: str | tuple[str, ...],
    since: str,
    needs: Need = "model",
    security: tuple[str, ...] = (),
    about: cached_property[Any] | None = None,
    of: Element | None = None,
    flag: tuple[str, str] | None = None,
) -> Callable[[Callable[..., Iterator[Finding]]], Rule]:
    """Make a rule of a generator function from a Model to findings.

    `clause`: the clause or clauses of the specification that it decides. `since`: the version of onnx-lint (of the
    package, for a plugin) that brought it. `about`: a cached property of Model, such as `Model.external_data`; a model
    of which it is false or empty cannot break the rule, which is then not asked. `of`: a kind of elements on each of
    which by itself the rule, or what it is about, decides, see `onnx_lint.engine.census`. `needs`: what the rule has to
    see whole, which decides the kinds of document that it judges, see `Need`. `security`: ids of the vulnerabilities
    that it guards against. `flag`: an option of the command line, and the option of the rule that it turns on. Its id
    is the function's name with dashes. Raises ValueError where `about` is no property of Model, `of` is no `Element`,
    or `needs` is no `Need`.
    """
    if needs not in NEEDS:
        raise ValueError(f"a rule cannot need {needs!r}; there are {', '.join(NEEDS)}")
    if of is not None and of not in ELEMENTS:
        raise ValueError(f"a rule cannot be of {of!r}; there are {', '.join(ELEMENTS)}")
    if about is not None and getattr(Model, about.name, None) is not about:
        raise ValueError(f"a rule cannot be about {about.name!r}, which is no cached property of Model")

    def make(check: Check) -> Rule:
        clauses = (clause,) if isinstance(clause, str) else clause
        return Rule(
            check.__name__.replace("_", "-"),
            check,
            clauses,
            since,
            needs,
            security,
            about.name if about else None,
            of,
            flag,
        )

    return make


_NAMED: Final = 4
"""Of the faults that one finding stands for, so many have their places in it."""


def folded(
    faults: Iterable[Fault], finding: Callable[[Fault], Finding], subject: str | None, more: tuple[str, str]
) -> Iterator[Finding]:
    """The finding on the first of the faults, which stands for all of them; none where there are none.

    The places of the next few are related ones, the others are a number. `finding`: makes the finding on a fault by
    itself. `subject`: the name of the graph that has them all; None for those of a model. `more`: what is said of one
    fault behind the first and of several, such as `("more node repeats a name", "more nodes repeat a name")`.
    """
    left = iter(faults)
    named = [finding(fault) for fault in islice(left, _NAMED)]
    if not named:
        return
    first, *others = named
    behind = len(others) + sum(1 for _ in left)
    yield replace(
        first,
        message=f"{first.message}; {behind:,} {more[behind != 1]}" if behind else first.message,
        related=(*first.related, *(Related(other.place, other.message) for other in others)),
        subject=subject,
        collective=True,
        count=1 + behind,
    )


def conversions_apart(model: Model, conflicts: Iterable[C]) -> Iterator[C]:
    """The conflicts without those of optional types, which have a clause of their own where the edition knows them."""
    has_conversions = model.standard.at_least("1.16")
    return (conflict for conflict in conflicts if not (has_conversions and conflict.lacks_conversion))


def findings_of(
    model: Model, conflict: Disagreement, clause: str | None = None, anchor: str | None = None
) -> Iterator[Finding]:
    """Yield the finding that a conflict is; none where a bug keeps it from being described, which is noted.

    `clause`: for a rule that decides several. `anchor`: as of the finding.
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
        )
