"""`python -m vernal` is the command line."""

from vernal.cli import main

if __name__ == "__main__":
    main()
