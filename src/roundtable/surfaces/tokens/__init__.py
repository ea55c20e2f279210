"""Who may do what: capabilities, the rules that every door asks, and the tokens that carry them."""
