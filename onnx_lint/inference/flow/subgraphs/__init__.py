# SPDX-License-Identifier: Apache-2.0
"""The facts that control-flow operators supply to their subgraphs, and the facts of their outputs."""
