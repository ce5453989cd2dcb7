"""`python -m saccade`: the command line, for where the command itself is not on the path."""

from saccade.cli import app

if __name__ == "__main__":
    app(prog_name="saccade")
