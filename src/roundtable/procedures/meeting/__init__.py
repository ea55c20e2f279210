"""The meeting: participants with roles of their own speak in turn, led by a coordinator."""
