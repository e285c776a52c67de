# SPDX-License-Identifier: Apache-2.0
"""Why a run cannot be done as it is asked for. Whoever has taken the request tells it."""

from __future__ import annotations


class RunError(Exception):
    """What keeps a run from its end, such as a configuration that cannot be used; the text is for people to read."""


class RequestError(RunError):
    """A request that makes no sense, such as an unknown rule: help on usage goes with it."""
