"""Robots' tasks as Gymnasium environments: `robot` is the environment, `registration` its ids."""
