"""`python -m surefoot`."""

from surefoot.cli.main import main

main()
