# SPDX-License-Identifier: Apache-2.0
"""Edits of models in the text format and in JSON."""
