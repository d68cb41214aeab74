"""Advisors: what stands between client and model. The interfaces, the chain, the tool-calling loop, memory."""
