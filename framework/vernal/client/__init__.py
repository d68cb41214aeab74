"""The chat client: the fluent request, its turns and their results, and the builder."""
