"""FlashAttention in Triton: forward, backward, and decoding one token against a long cache."""
