# SPDX-License-Identifier: Apache-2.0
"""Code that tests share, by purpose."""
