# SPDX-License-Identifier: Apache-2.0
"""A report as plain data."""

from __future__ import annotations

from support.reports.made_up_report import REPORT

from onnx_lint.report.not_verified import not_verified_in_words
from onnx_lint.reporters.records import file_record


def test_what_was_not_verified_is_what_text_says():
    files = REPORT.files
    for file in files:
        found = file_record(file)["not_verified"]
        assert [item["message"] for item in found] == list(not_verified_in_words(file))
        of_domains = len(file.not_verified)
        assert [(item["domain"], item["nodes"]) for item in found[:of_domains]] == list(file.not_verified)
        assert all((item["domain"], item["nodes"]) == (None, 0) for item in found[of_domains:])
    assert any(file.not_verified and file.incomplete for file in files)
    assert any(file_record(file)["not_verified"] == [] for file in files)
