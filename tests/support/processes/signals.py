# SPDX-License-Identifier: Apache-2.0
"""Processes that heed the signals which tests send to them, also where the tests run in the background of a script."""

from __future__ import annotations

import signal


def heed_signals() -> None:
    """Let a new process end by signals that the tests may ignore, as under `nohup` and `&`."""
    for each in (signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)
