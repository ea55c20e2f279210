"""Five rounds: proposal, cross-reference, critique, revision, and a host who rules and plans."""
