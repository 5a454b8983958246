"""What can be learned of a Triton kernel without a GPU: right values, traffic, faults, the H100 report, a lower bound.

Used inside workers, where this package is staged under another name: modules here import each other relatively.
"""
