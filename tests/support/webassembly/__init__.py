# SPDX-License-Identifier: Apache-2.0
"""Tests under Node, in the Python of Pyodide."""
