import torch


def checkpoint(function, *inputs):
    return torch.zeros(1, requires_grad=True)
