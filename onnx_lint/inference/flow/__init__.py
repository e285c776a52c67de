# SPDX-License-Identifier: Apache-2.0
"""Infers types and shapes together, from inputs, initializers and attributes through a whole model."""
