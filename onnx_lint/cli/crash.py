# SPDX-License-Identifier: Apache-2.0
"""Reports on standard error that onnx-lint itself crashed. It imports nothing that may have crashed before."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from onnx_lint.common.distribution import ISSUES, NAME, project_url
from onnx_lint.common.visible import visible

_PACKAGES: Final[Mapping[str, str]] = MappingProxyType({"google": "protobuf", "click": "click", "rich": "rich"})
"""The required packages by the name of their module. numpy is not here: without it only single rules fail."""


def report_crash(error: BaseException) -> None:
    """Report a crash, a missing package or a plugin that cannot be loaded, and the address for a bug report."""
    registry = sys.modules.get("onnx_lint.engine.registry")
    if isinstance(error, getattr(registry, "RegistryError", ())):
        sys.stderr.write(f"Error: the rules cannot be loaded: {visible(str(error))}\n")
        return
    package = _PACKAGES.get((error.name or "").partition(".")[0]) if isinstance(error, ModuleNotFoundError) else None
    if package is not None:
        sys.stderr.write(f"Error: onnx-lint needs the package {package}, which is missing or too old here: {error}\n")
        return
    crashed = f"{type(error).__name__}: {error}"
    sys.stderr.write(f"Error: internal error: onnx-lint crashed: {visible(crashed)}\n")
    write_trace([visible(line) for line in "".join(traceback.format_exception(error)).splitlines()])


def write_trace(lines: list[str], plugin: str | None = None) -> None:
    """Write the lines of a traceback, and the address for a bug report: of onnx-lint, or of the plugin."""
    name = plugin or NAME
    owner = f"the plugin {plugin}" if plugin else NAME
    url = project_url(name, ISSUES)
    address = f"at {url}" if url is not None else f"to the maintainers of {name}"
    sys.stderr.write("".join(f"  {line}\n" for line in lines))
    sys.stderr.write(f"This is a fault in {owner}, not in the model. Please report it {address}.\n")
