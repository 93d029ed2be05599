"""Pure policy: no clock, no I/O, no randomness, no LangChain."""
