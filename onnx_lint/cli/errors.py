# SPDX-License-Identifier: Apache-2.0
"""The exceptions for runs that cannot be carried out. The caller that built the request prints them."""

from __future__ import annotations


class RunError(Exception):
    """The run cannot be carried out, for example because of an unusable configuration. The text is for users."""


class RequestError(RunError):
    """The request makes no sense, for example because of an unknown rule. It is printed with the usage line."""
