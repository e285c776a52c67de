# SPDX-License-Identifier: Apache-2.0
"""Finds operator signatures, in the package's data and in schema files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from onnx_lint.spec.operators.declared import Declarations, DeclaredSet
from onnx_lint.spec.operators.schema import OperatorSchema
from onnx_lint.spec.operators.store import ONNX, ONNXRUNTIME, DataFile
from onnx_lint.spec.releases import normalized_domain

if TYPE_CHECKING:
    from onnx_lint.spec.operators.schema_file import SchemaFile

_DATA_FILES: Final = (ONNX, ONNXRUNTIME)


class OperatorSchemas:
    """The operators of the built-in domains, of schema files and of operator-set documents.

    A schema file's operator takes the place of a built-in one of the same domain and name, with all its
    versions; that way a newer runtime's `com.microsoft` can be described. "ai.onnx" is the default domain "".
    """

    def __init__(self, files: Iterable[SchemaFile] = (), declared: Iterable[DeclaredSet] = ()) -> None:
        """Takes schema files in, and operator-set documents.

        Raises SchemaFileError when two files describe one operator.
        """
        self._described: dict[tuple[str, str], dict[int, OperatorSchema]] = {}
        self._found: dict[tuple[str, str, int], OperatorSchema | None] = {}
        self._declared = Declarations(declared)
        origin: dict[tuple[str, str], SchemaFile] = {}
        for file in files:
            for name, schemas in file.operators.items():
                earlier = origin.setdefault((file.domain, name), file)
                if earlier is not file:
                    from onnx_lint.spec.operators.json_value import SchemaFileError

                    raise SchemaFileError(
                        file.path,
                        "operators",
                        f"operator '{name}' of domain '{file.domain}' is already described by {earlier.path}",
                    )
                self._described[file.domain, name] = {schema.since_version: schema for schema in schemas}

    def find(self, domain: str, op_type: str, opset_version: int) -> OperatorSchema | None:
        """The signature of an operator in an operator set: the newest that is not newer than the set.

        None if the domain is not known, or the operator is not, or came later.
        """
        key = (normalized_domain(domain), op_type, opset_version)
        found = self._found.get(key)
        if found is None:
            found = self._find(*key)
            if found is not None:  # what there is not is not kept: a file may name as many operators as it likes
                self._found[key] = found
        return found

    def with_declared(self, declared: DeclaredSet) -> OperatorSchemas:
        """These operators and those of one more operator-set document."""
        more = OperatorSchemas(declared=[*self._declared, declared])
        more._described = self._described
        return more

    def is_declared(self, domain: str, op_type: str, opset_version: int) -> bool | None:
        """Whether the operator-set documents have the operator in that version; None where they do not tell.

        Of ONNX's own domains only the version of a document counts: the others are known better than a document of a
        later version tells, in which many operators have a newer definition.
        """
        if not self._declared.domains:
            return None
        domain = normalized_domain(domain)
        if _data_file(domain) is not None and not self._declared.has_version(domain, opset_version):
            return None
        return self._declared.has(domain, op_type, opset_version)

    def newest_declared(self, domain: str) -> int | None:
        """The newest version of the domain that an operator-set document declares; None where none is of the domain."""
        return self._declared.newest(normalized_domain(domain))

    def is_described(self, domain: str) -> bool:
        """Whether a schema file describes the domain."""
        return any(of == domain for of, _ in self._described)

    def versions(self, domain: str, op_type: str) -> tuple[int, ...]:
        """The operator set versions that added or changed an operator, ascending; empty if unknown."""
        domain = normalized_domain(domain)
        described = self._described.get((domain, op_type))
        if described is not None:
            return tuple(sorted(described))
        file = _data_file(domain)
        published = () if file is None else file.versions(domain, op_type)
        since = None if published else self._declared.since(domain).get(op_type)
        return published if since is None else (since,)

    def operator_names(self, domain: str, opset_version: int | None = None) -> tuple[str, ...]:
        """The names of a domain's operators, sorted; deprecated ones too, those that came later not.

        Without a version, the operators of every version.
        """
        domain = normalized_domain(domain)
        file = _data_file(domain)
        first = dict(file.first_versions(domain)) if file is not None else {}
        first |= {name: since for name, since in self._declared.since(domain).items() if name not in first}
        first |= {name: min(versions) for (of, name), versions in self._described.items() if of == domain}
        names = sorted(name for name, since in first.items() if opset_version is None or since <= opset_version)
        if opset_version is None or domain not in self._declared.domains:
            return tuple(names)
        return tuple(name for name in names if self.is_declared(domain, name, opset_version) is not False)

    def known_domains(self) -> tuple[str, ...]:
        """The domains whose operators are known: ONNX's own, ONNX Runtime's, those of schema files."""
        built_in = [domain for file in _DATA_FILES for domain in file.domains]
        return tuple(dict.fromkeys([*built_in, *self._declared.domains, *(domain for domain, _ in self._described)]))

    def domains_of(self, op_type: str) -> tuple[str, ...]:
        """The known domains that have an operator of that name, in any version."""
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
