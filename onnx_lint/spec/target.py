# SPDX-License-Identifier: Apache-2.0
"""The programs, releases and versions that `--target` names: those that the model must suit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import EMPTY, Record
from onnx_lint.spec.clauses import ACCEPTED, REFUSED, Clause, clauses
from onnx_lint.spec.domains import misspelled_domain
from onnx_lint.spec.releases import (
    DOMAIN_ALIAS,
    NEWEST_IR_VERSION,
    NEWEST_OPSET,
    check_opset_version,
    is_onnx_domain,
    normalized_domain,
)
from onnx_lint.spec.standard import DEFAULT_STANDARD
from onnx_lint.wording import nearest, quote, suggestion

if TYPE_CHECKING:  # a run without a target needs no data of products
    from onnx_lint.spec.products import ProductRelease

ONNX: Final = "onnx"
"""The specification itself."""
CHECKER: Final = "onnx.checker"
FULL_CHECK: Final = "onnx.full_check"
CHECKERS: Final = (CHECKER, FULL_CHECK)
"""The targets that are `onnx.checker.check_model`, the second with `full_check=True`: they accept or refuse a model."""
OWN_OPERATOR: Final = "own-operator"
"""The case of a finding about an operator that ONNX Runtime defines in the default domain: its data say which releases
do."""
UNSEEN: Final = "unseen"
"""The case of a finding about a part that a program reads in another way, or not at all: no row is about it."""
CONTRIBUTED: Final = "contributed"
"""The case of a finding that a node contradicts the signature of an operator of ONNX Runtime's own domains. The
checks of onnx know none of them."""
WITHOUT_ML: Final = "onnx-without-ml"
"""The variant of the specification that lacks classical machine learning."""
TARGET_GATES: Final = ("refused", "violations", "unproven")
"""What fails a run: a model that a program refuses; also a model that violates ONNX, if a program is not proven to load
it; also a model with a part that was not judged."""


class Target(Record):
    """What the model must suit. Raises ValueError for a version that was never published.

    A version that is too high would make every model pass, so it is rejected.
    """

    ir_version: int | None = None
    """The newest IR version; None if not set."""
    opset_versions: Mapping[str, int] = EMPTY
    """The newest operator set version by domain; the default domain is empty. Other domains are not checked."""
    programs: tuple[str, ...] = ()
    """The programs that must load the model: `onnx.checker`, `onnx.full_check`, `onnxruntime=1.32`."""
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
            check_opset_version(domain, version)

    @property
    def releases(self) -> tuple[str, ...]:
        """The programs whose data `onnx_lint.spec.products` has."""
        return tuple(program for program in self.programs if program not in CHECKERS)

    @property
    def assumed_imports(self) -> Mapping[str, int]:
        """The versions, by domain, that ONNX Runtime takes for domains that a model uses and does not import."""
        if not self.releases:
            return EMPTY
        from onnx_lint.spec.products import product_release

        for release in map(product_release, self.releases):
            if release.has_kernels:
                published = {domain: version for domain, version in release.opsets.items() if domain}
                return published | dict.fromkeys(release.own_domains, 1)
        return EMPTY

    def is_refused(self, clause: Clause) -> bool:
        """Return whether one of the programs is known to reject a violation of the clause, in any case."""
        if not clause.refused_by:
            return False
        return any(
            all(refused_since(clause, case=None, program=program, release=each) for each in releases_of(program))
            for program in self.programs
        )


def title(program: str) -> str:
    """Return the name of a program for people: `onnxruntime 1.32.0`."""
    if "=" not in program:
        return program
    from onnx_lint.spec.products import product_releases

    releases = product_releases(program)
    return str(releases[0]) if len(releases) == 1 else program.replace("=", " ")


def releases_of(program: str) -> tuple[ProductRelease | None, ...]:
    """Return the release that a target names, or its two neighbours; None for a program without data of its own."""
    if "=" not in program:
        return (None,)
    from onnx_lint.spec.products import product_releases

    return product_releases(program)


def accepting(
    clause: Clause, *, case: str | None, subject: str | None, program: str, release: ProductRelease | None
) -> tuple[str, ...]:
    """Return the releases of a program that are proven to accept a violation in this case; empty if there are none.

    `subject`: the name that the finding is about. `release`: the only one to look at, if the program has releases.
    """
    if case == OWN_OPERATOR:
        has_it = release is not None and release.has_own("", subject or "")
        return (release.version,) if release is not None and has_it else ()
    name = program.partition("=")[0]
    rows = [re.fullmatch(ACCEPTED, each) for each in clause.accepted_by]
    known = [row[2] for row in rows if row is not None and row[1] == name and _is_about(row[3], case)]
    return tuple([each for each in known if release is None or f"{release.version}.".startswith(f"{each}.")])


def refused_since(clause: Clause, *, case: str | None, program: str, release: ProductRelease | None) -> str | None:
    """Return the first release known to refuse a violation, if the program is known to refuse it.

    `case`: that of the finding; None for any.
    """
    from onnx_lint.spec.products import version_number

    name = program.partition("=")[0]
    for consumer in (name, CHECKER) if name == FULL_CHECK else (name,):
        row = re.fullmatch(REFUSED, clause.refused_by.get(consumer, ""))
        if row is not None and (case is None or _is_about(row[2], case)):
            is_since = release is None or version_number(release.version) >= version_number(row[1])
            return row[1] if is_since else None
    return None


def _is_about(cases: str | None, case: str | None) -> bool:
    """Return whether a row of a clause, for cases such as `main or branch`, is about a case."""
    return cases is None or case in cases.split(" or ")


def known_targets() -> str:
    """Return what a target may be, for people."""
    from onnx_lint.spec.products import PRODUCTS

    return (
        f"onnx, onnx.checker, onnx.full_check, onnx-without-ml, NAME=VERSION for a release of {', '.join(PRODUCTS)}; "
        "ir=N, and DOMAIN=N for a domain with a dot"
    )


def _unknown(name: str) -> str:
    """Return what to say of a name that is no target."""
    from onnx_lint.spec.products import PRODUCTS, version_number

    what, _, version = name.rpartition("=")
    if what in CHECKERS:
        rows = [clause.refused_by[what] for clause in clauses().values() if what in clause.refused_by]
        tried = sorted({row.split()[0] for row in rows}, key=version_number)
        return f"target {name!r}: write {what}; it stands for onnx {' to '.join(dict.fromkeys((tried[0], tried[-1])))}"
    likely = ""
    if (what or name) in _SHORT:
        likely = f"; write {_SHORT[what or name]}={version if what else 'VERSION'}"
    elif re.fullmatch(_VERSIONED, name, re.ASCII):
        likely = _mistake(what, version)
    likely = likely or suggestion(what or name, [*PRODUCTS, ONNX, *CHECKERS, WITHOUT_ML])
    the = " The" if likely.endswith("?") else "; the"
    return f"unknown target {quote(name)}{likely}{the} targets are {known_targets()}"


def _mistake(what: str, version: str) -> str:
    """Return what to write if a name is a misspelled domain, `IR` or `opset`; empty for the domain of a user."""
    if what in _MEANT.values() or is_onnx_domain(what):
        return ""
    from onnx_lint.spec.products import PRODUCTS

    folded = what.lower().replace("-", "_")
    if folded in _MEANT:
        near: str | None = folded
    else:
        near = misspelled_domain(what, _MEANT) if "." in what else nearest(folded, _MEANT)
    return f"; write {_MEANT[near]}={version}" if near is not None else suggestion(what, PRODUCTS)


def _is_program(name: str) -> bool:
    """Return whether a target names a program. Raises ValueError for an unknown release of one."""
    if name in CHECKERS:
        return True
    from onnx_lint.spec.products import PRODUCTS, product_release

    if name not in PRODUCTS and name.rpartition("=")[0] not in PRODUCTS:
        return False
    product_release(name)
    return True


def _is_domain(what: str) -> bool:
    """Return whether a target may name a version of it: any other word without a dot is a misspelled product.

    So is a name that begins like those of the checks of onnx.
    """
    return ("." in what and not what.startswith("onnx.")) or what == "ir" or is_onnx_domain(what)


_MEANT: Final[Mapping[str, str]] = {
    **{name: name for name in (*filter(None, NEWEST_OPSET), DOMAIN_ALIAS, "ai.onnx.contrib", "com.microsoft", "ir")},
    **dict.fromkeys(("opset", "opset_version", "target_opset", "onnx"), DOMAIN_ALIAS),
    "ir_version": "ir",
    "ml": "ai.onnx.ml",
}
"""The names in a target with a version, by what users write for them."""

_SHORT: Final = {"ort": "onnxruntime", "onnxrt": "onnxruntime", "trt": "tensorrt", "ov": "openvino"}
"""What users call products."""

NO_TARGET = Target()

_VERSIONED: Final = r"[^\s=]+=[0-9]+"
"""What most runs do not need is not compiled at the import."""


def target_of(names: Iterable[str], registered: Iterable[str] = ()) -> Target:
    """Return what names such as `onnxruntime=1.32` and `ir=10` ask for. Raises ValueError for an unknown one.

    Of several versions of one domain the lowest counts, since the model must suit each.
    `registered`: the domains that a library registers.
    """
    ir_version, versions, programs = None, dict[str, int](), dict[str, None]()
    names = [part.strip() for name in names for part in name.split(",")]
    for name in names:
        what, _, version = name.rpartition("=")
        if _is_program(name):
            programs[name] = None
        elif re.fullmatch(_VERSIONED, name, re.ASCII) and _is_domain(what) and not _mistake(what, version):
            number = int(version)
            if what == "ir":
                ir_version = min(number, ir_version or number)
            else:
                domain = normalized_domain(what)
                versions[domain] = min(number, versions.get(domain, number))
        elif name not in (ONNX, WITHOUT_ML):
            raise ValueError(_unknown(name))
    is_onnx = not programs or ONNX in names
    variant = "onnx" if WITHOUT_ML in names else DEFAULT_STANDARD.variant
    return Target(ir_version, versions, tuple(programs), is_onnx, variant, tuple(map(normalized_domain, registered)))
