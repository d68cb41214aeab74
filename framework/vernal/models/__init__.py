"""Models: the interface to a chat model, the aggregation of streamed chunks, and the embedded offline model."""
