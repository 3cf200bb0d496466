"""The program ``torrance``."""

import sys

from ._torrance import main as run


def main() -> int:
    """Runs the program with the arguments of this process."""
    return run(["torrance", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
