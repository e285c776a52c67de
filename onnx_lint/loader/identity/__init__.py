# SPDX-License-Identifier: Apache-2.0
"""Identifies the content of a file."""
