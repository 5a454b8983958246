"""How a submission is called: one interface, in this process or in a confined worker, and what can go wrong."""
