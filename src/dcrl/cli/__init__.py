"""The installed command `dcrl`, one module per subcommand."""
