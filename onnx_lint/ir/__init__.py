# SPDX-License-Identifier: Apache-2.0
"""The content of the file: graphs, nodes, names, attributes, types and tensors, each with its place."""
