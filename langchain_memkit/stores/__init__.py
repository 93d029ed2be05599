"""Memory stores: one module each, the optional ones named after their extra."""
