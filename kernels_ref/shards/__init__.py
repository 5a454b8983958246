"""Layers and attention cut over ranks: the oracle of the assignment `sharding`, which needs no ranks itself."""
