# SPDX-License-Identifier: Apache-2.0
"""Lints one file, and has the worker processes that lint many."""
