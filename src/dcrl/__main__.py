"""`python -m dcrl`: the command, where its script is not on the path."""

from dcrl.cli.main import main

if __name__ == "__main__":
    main()
