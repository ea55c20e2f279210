"""How a five-round discussion is read: its forms, its figures, its reports."""
