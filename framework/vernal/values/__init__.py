"""The vocabulary: messages, prompts, options, responses, usage. Frozen values that know nothing of engines."""
