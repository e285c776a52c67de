# SPDX-License-Identifier: Apache-2.0
"""The shapes of values: facts about them, and their inference by each operator from those of its inputs."""
