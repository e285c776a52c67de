# SPDX-License-Identifier: Apache-2.0
"""Selects the rules, runs them over a model, and turns findings into diagnostics."""
