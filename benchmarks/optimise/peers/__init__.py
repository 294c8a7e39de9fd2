"""Optimisers that live in environments of their own.

What is here runs under their interpreters and imports nothing else of the repository.
"""
