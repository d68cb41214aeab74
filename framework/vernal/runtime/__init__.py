"""Where work runs: the portal for blocking callers, worker threads for blocking tools, streams, and the two faces."""
