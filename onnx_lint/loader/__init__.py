# SPDX-License-Identifier: Apache-2.0
"""Builds a `Model` from a source in any encoding, and from damaged bytes.

Faults of the bytes become faults of the model; the content of a file raises nothing here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from onnx_lint.common.record import EMPTY
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.source import Source
from onnx_lint.ir.documents.kinds import MODEL_KIND
from onnx_lint.loader.binary.attempts import MAX_PARSED_BYTES, load_binary
from onnx_lint.loader.binary.strip_payloads import read_skeleton
from onnx_lint.loader.identity.identify import Form, identify, kind_of_content, misnamed
from onnx_lint.loader.limits.not_checked import check_size
from onnx_lint.model import Fault, Model
from onnx_lint.spec.operators import BUILT_IN, OperatorSchemas
from onnx_lint.spec.standard import DEFAULT_STANDARD, Standard
from onnx_lint.spec.target import NO_TARGET, Target

if TYPE_CHECKING:
    from onnx_lint.ir.tensors.data_folder import DataFolder


def load(
    source: Source,
    name: str = "",
    standard: Standard = DEFAULT_STANDARD,
    directory: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    proto: str | None = None,
    *,
    schemas: OperatorSchemas = BUILT_IN,
    target: Target = NO_TARGET,
    opset_imports: Mapping[str, int] = EMPTY,
    trusted_folders: Sequence[str] = (),
    given_folder: DataFolder | None = None,
) -> Model:
    """Load the model in `source`. `name` is the file's name; its suffix matters only if the content is ambiguous.

    `directory`: the folder of external data, None to look it up nowhere. `limits`: the limits on the content of the
    file. `proto`: the message in the file, such as `TensorProto`; None to recognize it by its content. `schemas`: the
    known operators. `target`: the consumer of the model. `opset_imports`: the versions of operator sets, by domain, for
    a graph or node that is outside of a model. `trusted_folders`: the folders that links to external data may lead to.
    `given_folder`: the files of external data, if `directory` is not in the file system.

    Always returns a Model; if no message could be read, `Model.loaded` is false and `Model.faults` has the reasons.
    Raises ReadError if the source cannot be read, and its subclass NotCheckedError if the source exceeds a limit.
    """
    make = partial(
        Model,
        source=source,
        file_name=os.path.basename(name),
        directory=directory,
        standard=standard,
        limits=limits,
        schemas=schemas,
        target=target,
        opset_imports=opset_imports,
        trusted_folders=trusted_folders,
        given_folder=given_folder,
    )
    form = identify(source, name)
    if isinstance(form, Fault) and source.size == 0 and proto not in {None, MODEL_KIND}:
        form = Form.BINARY
    if isinstance(form, Fault):
        return make(None, faults=(form,))
    check_size(source, limits, is_text=form is not Form.BINARY)
    kind = proto or kind_of_content(source, form, name)
    if kind is None:
        from onnx_lint.loader.identity.other_messages import fault_of_unrecognized_data

        return make(None, faults=(fault_of_unrecognized_data(source),))
    if form is Form.BINARY:
        return load_binary(source, kind, limits, make)
    from onnx_lint.loader.text.read_text import read_text

    parsed = read_text(source, form, kind, limits)
    if isinstance(parsed, Fault) and kind == MODEL_KIND and proto is None:
        from onnx_lint.loader.text.text_kinds import another_text

        parsed = another_text(source, form, parsed, limits)
    if isinstance(parsed, Fault):
        return make(None, faults=(parsed,), form=form.value, kind=kind)
    return make(parsed, faults=misnamed(form, name), form=form.value, kind=kind)


def read_first(source: Source, name: str, limits: Limits, proto: str | None) -> None:
    """Read what `load` reads first of a binary file, so that a remote source has it. The arguments are those of `load`.

    Raises the errors that `load` will raise, or report as faults.
    """
    form = identify(source, name)
    if form is not Form.BINARY:
        return
    check_size(source, limits, is_text=False)
    kind = proto or kind_of_content(source, form, name)
    if kind is None:
        return
    skeleton = read_skeleton(source, MAX_PARSED_BYTES, limits.fields, kind)
    if skeleton.is_whole:
        source.read_at(0, source.size)
