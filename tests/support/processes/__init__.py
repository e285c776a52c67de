# SPDX-License-Identifier: Apache-2.0
"""Processes: signals, interruptions, memory and time."""
