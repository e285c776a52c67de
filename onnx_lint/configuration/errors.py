# SPDX-License-Identifier: Apache-2.0
"""The exceptions for runs that cannot be carried out. The caller that built the request prints them."""

from __future__ import annotations

from onnx_lint.common.visible import visible


class RunError(Exception):
    """The run cannot be carried out, for example because of an unusable configuration. The text is for users."""

    def __str__(self) -> str:
        """Return the text, in which names of files and keys are escaped."""
        return visible(super().__str__())

    @property
    def path(self) -> str | None:
        """The path of the file that the error is about, as the exception that caused it says; None if it names none."""
        cause = self.__cause__
        return cause.filename if isinstance(cause, OSError) else getattr(cause, "path", None)


class RequestError(RunError):
    """The request makes no sense, for example because of an unknown rule. It is printed with the usage line."""


class ConfigurationError(RunError, ValueError):
    """A configuration or baseline that cannot be used. The text names the file and, for a key, the key."""
