"""python -m rosenblatt.cli: the same as the command rosenblatt."""

from rosenblatt.cli import app

app()
