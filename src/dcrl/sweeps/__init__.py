"""Many runs at once: jobs, and the backends that carry them out on this machine, on Ray or on Slurm."""
