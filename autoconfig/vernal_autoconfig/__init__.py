"""The defaults of a vernal application: one small file for each subject, nothing but auto-configurations.

    chat_model.py      which model answers
    tool_calling.py    resolver, exception processor, manager
    chat_client.py     tool advisor, builder, client
    chat_memory.py     where and how much a conversation remembers
    http_client.py     the HTTP clients of all who ask a service

Each bean steps back where a user or a plugin declares one of its type.
"""
