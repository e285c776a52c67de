# SPDX-License-Identifier: Apache-2.0
"""The operators of nodes: signatures, functions of the model, imports, and control flow."""
