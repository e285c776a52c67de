# SPDX-License-Identifier: Apache-2.0
"""Findings, the reports on files and the totals of a run, independent of the report format."""
