"""Chat memory: what a conversation remembers, and where it is stored."""
