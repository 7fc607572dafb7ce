"""Scripted solutions of the tasks: each yields the actions of an episode, from what it reads of the world."""
