"""search: how a verdict is found. Nothing here proves anything; see verify.py."""
