# SPDX-License-Identifier: Apache-2.0
"""Names: what declares each one, what it stands for where it is used, and what depends on what."""
