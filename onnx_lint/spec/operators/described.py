# SPDX-License-Identifier: Apache-2.0
"""The operators of schema files together with those of the package, loaded once for many models."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path

from onnx_lint.spec.operators import BUILT_IN, OperatorSchemas, load_schema_file


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
    return OperatorSchemas([load_schema_file(path) for path, _, _ in stamped])
