# SPDX-License-Identifier: Apache-2.0
"""Makes all derived files that need nothing but the checkout and the extra `test`: `python -m tools`.

Not made are files that need a network, other packages or a decision: `tools.lock` asks the package index for the newest
packages, `tools.generate_operators` and `tools.compile_targets` ask releases of ONNX and of runtimes, and goldens and
`benchmarks/instructions.json` change only when somebody has looked at the difference.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Final

MAKERS: Final = (
    "tools.compile_schema",
    "tools.compile_clauses",
    "tools.shape_families",
    "tools.catalogue",
    "tools.configuration_schema",
    "tools.public_api",
    "docs.generate.forms",
)
"""The modules that make the files. Each comes after those whose files it reads."""


def main() -> int:
    """Run each maker in a process of its own, which imports what the others have made. Stops at the first failure."""
    for module in MAKERS:
        code = subprocess.run([sys.executable, "-m", module], check=False).returncode
        if code != 0:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
