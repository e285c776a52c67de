# SPDX-License-Identifier: Apache-2.0
"""Small helpers that any other package may use; none of them knows what a model is."""
