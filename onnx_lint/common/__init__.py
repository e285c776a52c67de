# SPDX-License-Identifier: Apache-2.0
"""Small helpers that any other package may use. None of them knows about models."""
