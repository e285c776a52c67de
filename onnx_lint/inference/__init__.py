# SPDX-License-Identifier: Apache-2.0
"""Inference: the types and shapes of values that follow from the operators."""
