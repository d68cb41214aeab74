"""Tools: what a model may call. Definitions, callbacks, schemas, binding, results, resolution, and the manager."""
