# SPDX-License-Identifier: Apache-2.0
"""Finds operator signatures in the package's data and in schema files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from onnx_lint.spec.operators.schema import OperatorSchema, SchemaFileError
from onnx_lint.spec.operators.store import ONNX, ONNXRUNTIME, DataFile
from onnx_lint.spec.releases import normalized_domain

if TYPE_CHECKING:
    from onnx_lint.spec.operators.declared import DeclaredSet
    from onnx_lint.spec.operators.schema_file import SchemaFile

_DATA_FILES: Final = (ONNX, ONNXRUNTIME)


class OperatorSchemas:
    """The operators of the built-in domains, of schema files, and of the operator-set document that is checked.

    A schema file's operator replaces a built-in one with the same domain and name, in all its versions. So a newer
    runtime's `com.microsoft` can be described. "ai.onnx" is the default domain "".
    """

    def __init__(self, files: Iterable[SchemaFile] = (), declared: DeclaredSet | None = None) -> None:
        """`files`: schema files. `declared`: what an operator-set document declares.

        Raises SchemaFileError if two files describe one operator.
        """
        self._described: dict[tuple[str, str], dict[int, OperatorSchema]] = {}
        self._found: dict[tuple[str, str, int], OperatorSchema | None] = {}
        self._declared = declared
        origin: dict[tuple[str, str], SchemaFile] = {}
        for file in files:
            for name, schemas in file.operators.items():
                earlier = origin.setdefault((file.domain, name), file)
                if earlier is not file:
                    raise SchemaFileError(
                        file.path,
                        "operators",
                        f"operator '{name}' of domain '{file.domain}' is already described by {earlier.path}",
                    )
                self._described[file.domain, name] = {schema.since_version: schema for schema in schemas}

    def find(self, domain: str, op_type: str, opset_version: int) -> OperatorSchema | None:
        """Return the signature of an operator in an operator set: the newest that is not newer than the set.

        Returns None if the domain or the operator is unknown, or the operator was introduced later.
        """
        key = (normalized_domain(domain), op_type, opset_version)
        found = self._found.get(key)
        if found is None:
            found = self._find(*key)
            if found is not None:  # do not cache misses: a file may name any number of operators
                self._found[key] = found
        return found

    def with_declared(self, declared: DeclaredSet) -> OperatorSchemas:
        """Return these operators together with those that an operator-set document declares."""
        more = OperatorSchemas(declared=declared)
        more._described = self._described
        return more

    def _declared_in(self, domain: str) -> DeclaredSet | None:
        return self._declared if self._declared is not None and self._declared.domain == domain else None

    def is_declared(self, domain: str, op_type: str, opset_version: int) -> bool | None:
        """Return whether the operator-set document has the operator in that version; None if it does not say.

        For ONNX's own domains only a document of exactly this version counts: the built-in data are more precise than a
        document of a later version, in which many operators have a newer definition.
        """
        domain = normalized_domain(domain)
        declared = self._declared_in(domain)
        if declared is None or (_data_file(domain) is not None and declared.version != opset_version):
            return None
        return declared.has(op_type, opset_version)

    def newest_declared(self, domain: str) -> int | None:
        """Return the version of the domain that the operator-set document declares; None if it is of another domain."""
        declared = self._declared_in(normalized_domain(domain))
        return declared.version if declared is not None else None

    def is_described(self, domain: str) -> bool:
        """Return whether a schema file describes the domain."""
        return any(of == domain for of, _ in self._described)

    def versions(self, domain: str, op_type: str) -> tuple[int, ...]:
        """Return the operator set versions that added or changed an operator, ascending; empty if unknown."""
        domain = normalized_domain(domain)
        described = self._described.get((domain, op_type))
        if described is not None:
            return tuple(sorted(described))
        file = _data_file(domain)
        published = () if file is None else file.versions(domain, op_type)
        declared = self._declared_in(domain)
        since = None if published or declared is None else declared.operators.get(op_type)
        return published if since is None else (since,)

    def section(self, domain: str, op_type: str, opset_version: int) -> str | None:
        """Return the section of the published documents that describes an operator in an operator set.

        `Changelog.md#Add-6` if there is a newer version of the operator, else `Operators.md#Add`. Returns None for the
        domains of schema files.
        """
        schema, file = self.find(domain, op_type, opset_version), _data_file(normalized_domain(domain))
        if schema is None or file is None or (schema.domain, op_type) in self._described:
            return None
        name = f"{schema.domain}.{op_type}" if schema.domain else op_type
        if file is ONNXRUNTIME:
            return f"ContribOperators.md#{name}"
        suffix = "-ml" if schema.domain == "ai.onnx.ml" else ""
        if schema.since_version == max(self.versions(domain, op_type)):
            return f"Operators{suffix}.md#{name}"
        return f"Changelog{suffix}.md#{name}-{schema.since_version}"

    def operator_names(self, domain: str, opset_version: int | None = None) -> tuple[str, ...]:
        """Return the names of a domain's operators, sorted, with deprecated ones and without those introduced later.

        Without a version, return the operators of every version.
        """
        domain = normalized_domain(domain)
        file = _data_file(domain)
        first = dict(file.first_versions(domain)) if file is not None else {}
        declared = self._declared_in(domain)
        if declared is not None:
            first = {**declared.operators, **first}
        first |= {name: min(versions) for (of, name), versions in self._described.items() if of == domain}
        names = sorted(name for name, since in first.items() if opset_version is None or since <= opset_version)
        if opset_version is None or declared is None:
            return tuple(names)
        return tuple(name for name in names if self.is_declared(domain, name, opset_version) is not False)

    def known_domains(self) -> tuple[str, ...]:
        """Return the domains whose operators are known: ONNX's own, ONNX Runtime's, those of schema files."""
        built_in = [domain for file in _DATA_FILES for domain in file.domains]
        declared = [self._declared.domain] if self._declared is not None else []
        return tuple(dict.fromkeys([*built_in, *declared, *(domain for domain, _ in self._described)]))

    def domains_of(self, op_type: str) -> tuple[str, ...]:
        """Return the known domains that have an operator of that name, in any version."""
        return tuple(domain for domain in self.known_domains() if self.versions(domain, op_type))

    def _find(self, domain: str, op_type: str, opset_version: int) -> OperatorSchema | None:
        since = max((v for v in self.versions(domain, op_type) if v <= opset_version), default=None)
        if since is None:
            return None
        described = self._described.get((domain, op_type))
        if described is not None:
            return described[since]
        file = _data_file(domain)
        return None if file is None or not file.versions(domain, op_type) else file.schema(domain, op_type, since)


def _data_file(domain: str) -> DataFile | None:
    return next((file for file in _DATA_FILES if domain in file.domains), None)
