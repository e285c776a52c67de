# SPDX-License-Identifier: Apache-2.0
"""Each exit code and each signal, also a signal without a name, has a description of how the process ended."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from onnx_lint.common.exit_status import KILLED, way_of_end


def test_each_status_has_words():
    assert [way_of_end(code) for code in (0, 7, 255)] == ["with exit code 0", "with exit code 7", "with exit code 255"]
    named = {each.value: each.name for each in signal.Signals}
    named[9] = KILLED.removeprefix("by signal ")
    for number in range(1, 128):
        assert way_of_end(-number) == f"by signal {named.get(number, number)}"


@pytest.mark.skipif(not hasattr(signal, "SIGRTMIN"), reason="signals for real-time use are those of Linux and others")
def test_a_process_that_a_signal_without_a_name_ends():
    number = signal.SIGRTMIN + 1
    process = subprocess.run([sys.executable, "-c", f"import os; os.kill(os.getpid(), {number})"], check=False)
    assert way_of_end(process.returncode) == f"by signal {number}"
