# SPDX-License-Identifier: Apache-2.0
"""Findings, the reports on files and the totals of a run, independent of the report format."""

LINES = 1
NODES = 2
"""What a check collects around findings: lines of the model, or lines and pictures of the nodes; 0 for neither."""
