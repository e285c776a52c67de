# SPDX-License-Identifier: Apache-2.0
"""Finds changes of nodes with which their types and shapes fit, by trying what exporters get wrong."""
