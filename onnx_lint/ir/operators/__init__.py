# SPDX-License-Identifier: Apache-2.0
"""What the operators of nodes are: signatures, functions of the model, imports, and control flow."""
