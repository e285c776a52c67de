# SPDX-License-Identifier: Apache-2.0
"""What must take a model: the programs, releases and versions that `--target` names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from onnx_lint.common.record import EMPTY, Record
from onnx_lint.spec.clauses import ACCEPTED, REFUSED, Clause, clauses
from onnx_lint.spec.products import PRODUCTS, product_release, version_number
from onnx_lint.spec.releases import (
    DOMAIN_ALIAS,
    NEWEST_IR_VERSION,
    NEWEST_OPSET,
    is_onnx_domain,
    newest_opset_version,
    normalized_domain,
)
from onnx_lint.spec.standard import DEFAULT_STANDARD
from onnx_lint.wording import nearest, quote, suggestion

ONNX: Final = "onnx"
"""The specification itself."""
CHECKER: Final = "onnx.checker"
FULL_CHECK: Final = "onnx.full_check"
CHECKERS: Final[Mapping[str, str]] = {
    CHECKER: "onnx.checker.check_model(path)",
    FULL_CHECK: "onnx.checker.check_model(path, full_check=True)",
}
"""The targets that are functions of the onnx package: they accept or refuse a model, and load none."""
WITHOUT_ML: Final = "onnx-without-ml"
"""The variant of the specification that lacks classical machine learning."""
KNOWN: Final = "onnx, onnx.checker, onnx.full_check, onnx-without-ml, NAME=VERSION for a release, ir=N and DOMAIN=N"


class Target(Record):
    """What must take a model. Raises ValueError for a version that was never published.

    A version that is too high would make every model pass, so it is rejected.
    """

    ir_version: int | None = None
    """The newest IR version; None if not set."""
    opset_versions: Mapping[str, int] = EMPTY
    """The newest operator set version by domain; the default domain is empty. Other domains are not checked."""
    programs: tuple[str, ...] = ()
    """The programs that must take the model: `onnx.checker`, `onnx.full_check`, `onnxruntime=1.32`."""
    is_onnx: bool = True
    """True if the model must conform to ONNX too: a violation stays an error if a program accepts it."""
    variant: str = DEFAULT_STANDARD.variant
    """The variant of the specification."""

    registered: tuple[str, ...] = ()
    """The domains whose operators a library registers in the programs."""

    def __post_init__(self) -> None:
        if self.ir_version is not None and not 1 <= self.ir_version <= NEWEST_IR_VERSION:
            raise ValueError(f"IR version {self.ir_version} does not exist; the versions are 1 to {NEWEST_IR_VERSION}")
        for domain, version in self.opset_versions.items():
            newest = newest_opset_version(domain) if is_onnx_domain(domain) else None
            if version < 1 or (newest and version > newest):
                known = f"1 to {newest}" if newest else "1 and above"
                raise ValueError(
                    f"version {version} of {domain or 'ai.onnx'!r} does not exist; the versions are {known}"
                )

    @property
    def releases(self) -> tuple[str, ...]:
        """The programs whose data `onnx_lint.spec.products` has."""
        return tuple(program for program in self.programs if program not in CHECKERS)

    @property
    def assumed_imports(self) -> Mapping[str, int]:
        """The versions, by domain, that ONNX Runtime takes for domains that a model uses and does not import."""
        for release in map(product_release, self.releases):
            if release.has_kernels:
                published = {domain: version for domain, version in release.opsets.items() if domain}
                return published | dict.fromkeys(release.own_domains, 1)
        return EMPTY

    def is_refused(self, clause: Clause, case: str | None = None) -> bool:
        """Return whether one of the programs is known to reject a violation of the clause in this case; None: in any."""
        if not self.programs or not clause.refused_by:
            return False
        known = refused_by(clause, case)
        return any(refuses(program, known) for program in self.programs)

    def is_accepted(self, clause: Clause, case: str) -> bool:
        """Return whether the target is programs that are all proven to accept a violation of the clause."""
        if self.is_onnx or not clause.accepted_by:
            return False
        known = accepted_by(clause, case)
        return all(accepts(program, known) for program in self.programs)


def title(program: str) -> str:
    """Return the name of a program for people: `onnxruntime 1.32.0`."""
    return program if program in CHECKERS else str(product_release(program))


def accepted_by(clause: Clause, case: str) -> dict[str, tuple[str, ...]]:
    """Return the consumers that are proven to accept a violation of the clause in this case, each with its releases."""
    found: dict[str, tuple[str, ...]] = {}
    for row in [re.fullmatch(ACCEPTED, each) for each in clause.accepted_by]:
        if row is not None and _is_about(row[3], case):
            found[row[1]] = (*found.get(row[1], ()), row[2])
    return found


def refused_by(clause: Clause, case: str | None) -> dict[str, str]:
    """Return the consumers that reject a violation of the clause in this case, each with the first release known to.

    `case`: None for any.
    """
    found: dict[str, str] = {}
    for consumer, text in clause.refused_by.items():
        row = re.fullmatch(REFUSED, text)
        if row is not None and (case is None or _is_about(row[2], case)):
            found[consumer] = row[1]
    if CHECKER in found:
        found.setdefault(FULL_CHECK, found[CHECKER])
    return found


def _is_about(cases: str | None, case: str) -> bool:
    return cases is None or case in cases.split(" or ")


def accepts(program: str, known: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether the release, and no other, is one of those that are proven to accept something."""
    name, _, version = program.partition("=")
    if not version:
        return name in known
    return any(f"{product_release(program).version}.".startswith(f"{release}.") for release in known.get(name, ()))


def refuses(program: str, since: Mapping[str, str]) -> bool:
    """Return whether the program is known to reject something: `since` states the first release of each that does."""
    name, _, version = program.partition("=")
    first = since.get(name)
    return first is not None and (
        not version or version_number(product_release(program).version) >= version_number(first)
    )


def _mistake(what: str, version: str) -> str:
    """Return what to write if a name is a misspelled domain, `IR` or `opset`; empty for the domain of a user."""
    if what in _MEANT.values() or is_onnx_domain(what):
        return ""
    folded = what.lower().replace("-", "_")
    near = folded if folded in _MEANT else nearest(folded, _MEANT)
    return f"; write {_MEANT[near]}={version}" if near is not None else suggestion(what, PRODUCTS)


_MEANT: Final[Mapping[str, str]] = {
    **{name: name for name in (*filter(None, NEWEST_OPSET), DOMAIN_ALIAS, "ai.onnx.contrib", "com.microsoft", "ir")},
    **dict.fromkeys(("opset", "opset_version", "target_opset", "onnx"), DOMAIN_ALIAS),
    "ir_version": "ir",
    "ml": "ai.onnx.ml",
}
"""The names in a target with a version, by what users write for them."""

NO_TARGET = Target()

_VERSIONED: Final = r"[^\s=]+=[0-9]+"
"""What most runs do not need is not compiled at the import."""


def target_of(names: Iterable[str], registered: Iterable[str] = ()) -> Target:
    """Return what names such as `onnxruntime=1.32` and `ir=10` ask for. Raises ValueError for an unknown one.

    Of several versions of one domain the lowest counts, since the model must suit each.
    `registered`: the domains that a library registers.
    """
    ir_version, versions, programs, mistake = None, dict[str, int](), dict[str, None](), ""
    names = [part.strip() for name in names for part in name.split(",")]
    for name in names:
        what, _, version = name.rpartition("=")
        if what in PRODUCTS or name in PRODUCTS:
            product_release(name)
            programs[name] = None
        elif name in CHECKERS:
            programs[name] = None
        elif re.fullmatch(_VERSIONED, name, re.ASCII) and not (mistake := _mistake(what, version)):
            number = int(version)
            if what == "ir":
                ir_version = min(number, ir_version or number)
            else:
                domain = normalized_domain(what)
                versions[domain] = min(number, versions.get(domain, number))
        elif name not in (ONNX, WITHOUT_ML):
            if what in CHECKERS:
                tried = {
                    clause.refused_by[what].split()[0] for clause in clauses().values() if what in clause.refused_by
                }
                first, last = min(tried, key=version_number), max(tried, key=version_number)
                known = first if first == last else f"{first} to {last}"
                raise ValueError(f"target {name!r}: write {what}; it stands for onnx {known}")
            likely = mistake or suggestion(what or name, [*PRODUCTS, ONNX, *CHECKERS, WITHOUT_ML])
            the = " The" if likely.endswith("?") else "; the"
            raise ValueError(f"unknown target {quote(name)}{likely}{the} targets are {KNOWN}")
    is_onnx = not programs or ONNX in names
    variant = "onnx" if WITHOUT_ML in names else DEFAULT_STANDARD.variant
    return Target(ir_version, versions, tuple(programs), is_onnx, variant, tuple(map(normalized_domain, registered)))
