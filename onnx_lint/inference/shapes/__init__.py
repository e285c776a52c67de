# SPDX-License-Identifier: Apache-2.0
"""The shapes of values: what is known of them, and what each operator makes of those of its inputs."""
