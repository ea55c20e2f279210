"""Task boards: where a discussion's conclusion and its action items go."""
