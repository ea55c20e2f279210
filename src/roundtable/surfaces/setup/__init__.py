"""Setting Roundtable up: what is there, what is asked, and where the answers are kept."""
