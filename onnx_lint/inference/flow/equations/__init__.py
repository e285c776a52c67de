# SPDX-License-Identifier: Apache-2.0
"""Equations between dimension variables: collected from nodes and declarations, solved, and reported.

A declared dimension equals the inferred one, the columns of one matrix equal the rows of the next, and concatenated
tensors agree in the other axes. Broadcasting gives no equation, because a variable may be 1. A nested graph may not run
at all, so its equations are only used inside of it.
"""
