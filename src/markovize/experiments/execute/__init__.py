"""How trials are run: here, in several processes, or on a cluster; kept, and gone on with."""
