"""Web searches: one adapter per service, and the wrappers through which their results come."""
