# SPDX-License-Identifier: Apache-2.0
"""Small parts that every other package may use; none knows what a model is."""
