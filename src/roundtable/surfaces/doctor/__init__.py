"""The doctor: looks at everything that a set-up consists of, and names what is broken."""
