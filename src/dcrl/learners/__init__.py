"""Learning from transitions: TD3, the replay buffer, conditioning on descriptors."""
