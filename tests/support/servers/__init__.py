# SPDX-License-Identifier: Apache-2.0
"""Servers on this machine, and the models that they serve."""
