"""`python -m safear`."""

from safear.cli.main import main

main()
