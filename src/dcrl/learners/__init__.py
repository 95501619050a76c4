"""What learns from transitions."""
