"""genbicon."""
