# SPDX-License-Identifier: Apache-2.0
"""The operators of schema files together with those of the package, loaded once for many models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from onnx_lint.common.cached import remembered
from onnx_lint.input.regular_file import read_regular
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.documents.kinds import OPERATOR_SET_KIND
from onnx_lint.loader import load
from onnx_lint.loader.identity.identify import Form, identify, kind_of_content
from onnx_lint.spec.operators import BUILT_IN, OperatorSchemas, SchemaFileError
from onnx_lint.spec.operators.declared import declared_set
from onnx_lint.spec.operators.schema_file import MAX_BYTES, parsed_schema_file


def operator_schemas(paths: Iterable[str]) -> OperatorSchemas:
    """Return the built-in operators and those in the schema files; a file that has changed is read again.

    Raises OSError if a file cannot be read, is not a regular file, or is too large, ValueError for a path that no
    system has, and SchemaFileError if a file is not of the documented form, or two describe one operator.
    """
    stamped = []
    for path in paths:
        status = Path(path).stat()
        stamped.append((path, status.st_mtime_ns, status.st_size))
    return _loaded(tuple(stamped)) if stamped else BUILT_IN


@remembered(8)
def _loaded(stamped: tuple[tuple[str, int, int], ...]) -> OperatorSchemas:
    files = []
    declared = []
    for path, _, _ in stamped:
        data = read_regular(path, MAX_BYTES)
        document = _operator_set(Path(path), data)
        if document is None:
            files.append(parsed_schema_file(path, data))
        else:
            declared.append(declared_set(document))
    return OperatorSchemas(files, declared)


def _operator_set(path: Path, data: bytes) -> Any:
    """Return the operator-set document in the file, in any of the three forms; None if the file is not one."""
    # Late, because without such files the linter reads no schema here.
    source = BytesSource(data)
    form = identify(source, path.name)
    kind = kind_of_content(source, form, path.name) if isinstance(form, Form) else None
    if kind != OPERATOR_SET_KIND and form is Form.BINARY:
        raise SchemaFileError(path, "", "the file is neither an operator set nor a schema file, which is JSON")
    if kind != OPERATOR_SET_KIND:
        return None
    model = load(source, path.name, proto=OPERATOR_SET_KIND)
    if not model.loaded:
        raise SchemaFileError(path, "", f"no operator set can be read from the file: {model.faults[-1].message}")
    if model.document.opset_version < 1:
        raise SchemaFileError(path, "opset_version", "the operator set states no version")
    return model.document
