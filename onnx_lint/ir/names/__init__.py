# SPDX-License-Identifier: Apache-2.0
"""Names: the declarations of each one, the value that it names at each use, and the dependencies of nodes."""
