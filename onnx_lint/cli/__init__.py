# SPDX-License-Identifier: Apache-2.0
"""The command line. Nothing heavy is imported before a command needs it."""
