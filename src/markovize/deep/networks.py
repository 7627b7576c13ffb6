"""The networks: ordinary PyTorch modules, and how the compiled loops see their weights."""

from __future__ import annotations

from typing import Any, Final, cast

import numpy as np
import torch
from torch import Tensor, nn

from markovize.deep import kernels
from markovize.deep.kernels import Layers, Recurrence, Singles

KINDS: Final[dict[str, tuple[int, type[nn.RNNBase]]]] = {
    "RNN": (kernels.RNN, nn.RNN), "GRU": (kernels.GRU, nn.GRU), "LSTM": (kernels.LSTM, nn.LSTM),
}  # fmt: skip


class ValueNetwork(nn.Module):
    """Two hidden layers with ReLU: from what an agent sees to the values of its actions."""

    def __init__(self, inputs: int, hidden: int, actions: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.middle = nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, actions)

    def forward(self, seen: Tensor) -> Tensor:
        """Values of all actions, for each row."""
        return cast(Tensor, Chain.apply(seen, *self.parameters()))  # type: ignore[no-untyped-call]

    def plain_forward(self, seen: Tensor) -> Tensor:
        """The same layer by layer: slower, for comparison."""
        return cast(Tensor, self.last(torch.relu(self.middle(torch.relu(self.first(seen))))))

    def layers(self, states: int, bits: Singles) -> Layers:
        """The weights for the compiled loops; inputs are states one-hot, then ``bits`` of the memory."""
        weights = _array(self.first.weight.T)
        return Layers(
            weights[:states] + _array(self.first.bias), bits @ weights[states:],
            _array(self.middle.weight.T), _array(self.middle.bias), _array(self.last.weight), _array(self.last.bias),
        )  # fmt: skip


class Chain(torch.autograd.Function):
    """Three linear layers with ReLU in between, as one node: for small batches most time goes into the nodes."""

    @staticmethod
    def forward(ctx: Any, seen: Tensor, *weights: Tensor) -> Tensor:
        """What comes out of the last layer."""
        first, first_bias, middle, middle_bias, last, last_bias = weights
        one = torch.addmm(first_bias, seen, first.T).relu_()
        two = torch.addmm(middle_bias, one, middle.T).relu_()
        ctx.save_for_backward(seen, one, two, middle, last)
        return torch.addmm(last_bias, two, last.T)

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of weights and biases."""
        seen, one, two, middle, last = ctx.saved_tensors
        d_last = given[0]
        d_middle = (d_last @ last).mul_(two > 0)
        d_first = (d_middle @ middle).mul_(one > 0)
        return (
            None, d_first.T @ seen, d_first.sum(0), d_middle.T @ one, d_middle.sum(0), d_last.T @ two, d_last.sum(0),
        )  # fmt: skip


class RecurrentNetwork(nn.Module):
    """One recurrent layer, then a hidden layer with ReLU: from the states of an episode to the values of actions."""

    def __init__(self, kind: str, inputs: int, hidden: int, actions: int) -> None:
        super().__init__()
        self.kind, make = KINDS[kind]
        self.inputs = inputs
        self.memory: nn.RNNBase = cast(Any, make)(inputs, hidden)
        self.middle = nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, actions)

    def forward(self, states: Tensor) -> Tensor:
        """Values of all actions at each step of one episode, given as numbers of states."""
        outputs = cast(Tensor, Sweep.apply(self, states, *self._weights()))  # type: ignore[no-untyped-call]
        return cast(Tensor, self.last(torch.relu(self.middle(outputs))))

    def plain_forward(self, states: Tensor) -> Tensor:
        """The same by PyTorch's own recurrent layers: slower, for comparison."""
        seen = nn.functional.one_hot(states, self.inputs).to(torch.float32)
        outputs: Tensor = self.memory(seen)[0]
        return cast(Tensor, self.last(torch.relu(self.middle(outputs))))

    def _weights(self) -> tuple[Tensor, ...]:
        memory = cast(Any, self.memory)
        return memory.weight_ih_l0, memory.weight_hh_l0, memory.bias_ih_l0, memory.bias_hh_l0

    def recurrence(self) -> Recurrence:
        """The recurrent layer for the compiled loops."""
        from_input, from_output, input_bias, output_bias = self._weights()
        return Recurrence(
            _array(from_input.T) + _array(input_bias), _array(from_output.T), _array(from_output), _array(output_bias)
        )

    def layers(self) -> Layers:
        """The layers after it."""
        nothing = np.zeros((0, self.middle.in_features), np.float32)
        return Layers(
            nothing, nothing,
            _array(self.middle.weight.T), _array(self.middle.bias), _array(self.last.weight), _array(self.last.bias),
        )  # fmt: skip


class Sweep(torch.autograd.Function):
    """A recurrent layer along one episode, compiled both ways; the gradients of weights are single products."""

    @staticmethod
    def forward(ctx: Any, network: RecurrentNetwork, states: Tensor, *_weights: Tensor) -> Tensor:
        """The outputs at each step."""
        ctx.kind, ctx.layer, ctx.states = network.kind, network.recurrence(), states
        outputs, ctx.cells, ctx.gates = kernels.sweep(ctx.kind, ctx.layer, states.numpy())
        ctx.outputs = outputs
        return torch.from_numpy(outputs)

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of the four weights."""
        inputs, sums = map(
            torch.from_numpy,
            kernels.sweep_back(
                ctx.kind, ctx.layer, ctx.outputs, ctx.cells, ctx.gates, given[0].contiguous().numpy()
            ),
        )  # fmt: skip
        from_input = torch.zeros(len(ctx.layer.states), inputs.shape[1]).index_add_(0, ctx.states, inputs)
        from_output = sums[1:].T @ torch.from_numpy(ctx.outputs[:-1])
        return None, None, from_input.T, from_output, inputs.sum(0), sums.sum(0)


def _array(tensor: Tensor) -> Singles:
    return cast(Singles, tensor.detach().contiguous().numpy())
