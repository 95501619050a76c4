"""`python -m dcrl`: the installed command, where its script is not on the PATH."""

from dcrl_command import main

if __name__ == "__main__":
    main()
