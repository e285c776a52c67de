# SPDX-License-Identifier: Apache-2.0
"""What the file says: graphs, nodes, names, attributes, types and tensors, each with its place."""
