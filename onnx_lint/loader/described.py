# SPDX-License-Identifier: Apache-2.0
"""The operators of schema files together with those of the package, loaded once for many models."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from onnx_lint.spec.operators import BUILT_IN, OperatorSchemas, SchemaFileError, load_schema_file
from onnx_lint.spec.releases import normalized_domain


def operator_schemas(paths: Iterable[str]) -> OperatorSchemas:
    """The built-in operators and those that the schema files describe; a file that has changed is read again.

    Raises:
        OSError: a file cannot be read.
        SchemaFileError: a file is not of the documented form, or two describe one operator.

    """
    stamped = []
    for path in paths:
        status = Path(path).stat()
        stamped.append((path, status.st_mtime_ns, status.st_size))
    return _loaded(tuple(stamped)) if stamped else BUILT_IN


@functools.lru_cache(maxsize=8)
def _loaded(stamped: tuple[tuple[str, int, int], ...]) -> OperatorSchemas:
    files = []
    declared: dict[str, dict[str, frozenset[int]]] = {}
    for path, _, _ in stamped:
        document = _operator_set(Path(path))
        if document is None:
            files.append(load_schema_file(path))
            continue
        operators = declared.setdefault(normalized_domain(document.domain), {})
        for operator in document.operator:
            operators[operator.op_type] = operators.get(operator.op_type, frozenset()) | {operator.since_version}
        for function in document.functions:
            operators[function.name] = operators.get(function.name, frozenset()) | {document.opset_version}
    return OperatorSchemas(files, declared)


def _operator_set(path: Path) -> Any:
    """The operator-set document in the file, in any of the three forms; None where the file is none."""
    # Late, because without such files the linter reads no schema here.
    from google.protobuf import json_format, text_format
    from google.protobuf.message import DecodeError

    from onnx_lint import schema

    data = path.read_bytes()
    is_json = data.lstrip()[:1] == b"{"
    if _MAGIC not in data or (is_json and b'"magic"' not in data):
        return None
    document = schema.message("OperatorSetProto")()
    try:
        if is_json:
            return json_format.Parse(data, document, descriptor_pool=schema.pool())
        if b"magic:" in data:
            return text_format.Parse(data, document, descriptor_pool=schema.pool())
        return schema.message("OperatorSetProto").FromString(data)
    except (json_format.ParseError, text_format.ParseError, DecodeError, UnicodeDecodeError) as error:
        raise SchemaFileError(path, "", f"no operator set can be read from the file: {error}") from error


_MAGIC: Final = b"ONNXOPSET"
