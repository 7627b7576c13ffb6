"""The networks: ordinary PyTorch modules, and their fast forward and backward passes.

``forward`` says what a network is, layer by layer. ``run`` gives the same values, and ``gradients`` what autograd
would: for networks and batches this small, nearly all time goes into the nodes of a graph. All weights lie in one
tensor, so that optimiser and target need one call each; the compiled loops see them where they lie.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, Final, NamedTuple, Self, cast

import numpy as np
import torch
from torch import Tensor, nn

from markovize.agents.deep.fast import recurrence
from markovize.agents.deep.fast.arrays import First, Layers, Recurrence, Singles
from markovize.episodes.traces import Longs

KINDS: Final[dict[str, tuple[int, type[nn.RNNBase]]]] = {
    "RNN": (recurrence.RNN, nn.RNN),
    "GRU": (recurrence.GRU, nn.GRU),
    "LSTM": (recurrence.LSTM, nn.LSTM),
}


class FlatLayer(NamedTuple):
    """The weights of a layer as parts of one flat tensor, and their gradients, outside of any graph of autograd."""

    weight: Tensor
    bias: Tensor
    weight_slope: Tensor
    bias_slope: Tensor

    @classmethod
    def of(cls, weight: Tensor, bias: Tensor) -> FlatLayer:
        """Of parameters that were gathered."""
        return cls(weight.detach(), bias.detach(), cast(Tensor, weight.grad), cast(Tensor, bias.grad))

    def write(self, slope: Tensor, given: Tensor) -> None:
        """The gradients of the layer, given its output's, and its input."""
        torch.mm(slope.T, given, out=self.weight_slope)
        torch.sum(slope, 0, out=self.bias_slope)


class Network(nn.Module):
    """What all networks share: a hidden layer with ReLU and a last one, from ``hidden`` inputs to values of actions."""

    middle: nn.Linear
    last: nn.Linear
    weights: Tensor  # all of them
    gradient: Tensor  # of all of them
    layers: Layers
    _middle: FlatLayer
    _last: FlatLayer

    @property
    @abstractmethod
    def input_weights(self) -> Tensor:
        """Those that an input is multiplied with: turned in memory, so that what an input does is a row."""

    def gather(self) -> None:
        """Moves all weights into one tensor, and all gradients into another."""
        parameters = list(self.parameters())
        self.weights = torch.cat([p.detach().flatten() for p in parameters])
        self.gradient = torch.zeros_like(self.weights)
        at = 0
        for p in parameters:
            turned, was = p is self.input_weights, p.detach().clone()
            shape = p.shape[::-1] if turned else p.shape
            part, slope = (whole[at : at + p.numel()].view(shape) for whole in (self.weights, self.gradient))
            p.data, p.grad = (part.T, slope.T) if turned else (part, slope)
            p.data.copy_(was)
            at += p.numel()
        self._middle = FlatLayer.of(self.middle.weight, self.middle.bias)
        self._last = FlatLayer.of(self.last.weight, self.last.bias)
        self.layers = Layers(*map(array, (*self._middle[:2], *self._last[:2])))

    def twin(self) -> Self:
        """A network with the same weights, in a tensor of their own, that is not trained."""
        other = copy.deepcopy(self).requires_grad_(False)
        other.gather()
        return other

    @abstractmethod
    def gradients(self, forward_pass: ForwardPass, slope: Tensor) -> None:
        """Writes the gradients of all weights, given those of the values."""

    def finish(self, one: Tensor) -> tuple[Tensor, Tensor]:
        """The values of all actions from what comes out of the first layer, and the hidden layer on the way."""
        middle, last = self._middle, self._last
        two = torch.addmm(middle.bias, one, middle.weight.T).relu_()
        return torch.addmm(last.bias, two, last.weight.T), two

    def finish_back(self, one: Tensor, two: Tensor, slope: Tensor) -> Tensor:
        """Writes the gradients of these layers; gives that of the first layer's output."""
        d_two = (slope @ self._last.weight).mul_(two > 0)
        self._last.write(slope, two)
        self._middle.write(d_two, one)
        return d_two @ self._middle.weight


class ForwardPass(NamedTuple):
    """What the backward pass needs of a forward pass: inputs, both hidden layers, and what a recurrent layer did."""

    seen: Any
    one: Tensor
    two: Tensor
    inside: tuple[Singles, ...] = ()


class ValueNetwork(Network):
    """Two hidden layers with ReLU: from what an agent sees to the values of its actions."""

    def __init__(self, inputs: int, hidden: int, actions: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.middle = nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, actions)
        self.gather()

    def gather(self) -> None:
        """As for all networks; the first layer, too."""
        super().gather()
        flat = FlatLayer.of(self.first.weight, self.first.bias)
        self._first = flat._replace(weight=flat.weight.T, weight_slope=flat.weight_slope.T)

    @property
    def input_weights(self) -> Tensor:
        """Of the first layer."""
        return self.first.weight

    def forward(self, seen: Tensor) -> Tensor:
        """Values of all actions, for each row."""
        return cast(Tensor, self.last(torch.relu(self.middle(torch.relu(self.first(seen))))))

    def run(self, seen: Tensor) -> tuple[Tensor, ForwardPass]:
        """The same, and what the backward pass needs."""
        one = torch.addmm(self._first.bias, seen, self._first.weight).relu_()
        values, two = self.finish(one)
        return values, ForwardPass(seen, one, two)

    def gradients(self, forward_pass: ForwardPass, slope: Tensor) -> None:
        """Writes the gradients of all weights, given those of the values."""
        d_one = self.finish_back(forward_pass.one, forward_pass.two, slope).mul_(forward_pass.one > 0)
        torch.mm(forward_pass.seen.T, d_one, out=self._first.weight_slope)
        torch.sum(d_one, 0, out=self._first.bias_slope)

    def compiled(self, bits: Singles) -> First:
        """The first layer for the compiled loops; inputs are states one-hot, then ``bits`` of the memory."""
        return First(array(self._first.weight), array(self._first.bias), bits)


class RecurrentNetwork(Network):
    """One recurrent layer, then a hidden layer with ReLU: from the states of an episode to the values of actions."""

    def __init__(self, kind: str, inputs: int, hidden: int, actions: int) -> None:
        super().__init__()
        self.kind, make = KINDS[kind]
        self.inputs = inputs
        self.memory: nn.RNNBase = cast(Any, make)(inputs, hidden)
        self.middle = nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, actions)
        self.gather()

    def gather(self) -> None:
        """As for all networks; the recurrent layer, too."""
        super().gather()
        layer = cast(Any, self.memory)
        inputs = FlatLayer.of(layer.weight_ih_l0, layer.bias_ih_l0)
        self._inputs = inputs._replace(weight=inputs.weight.T, weight_slope=inputs.weight_slope.T)
        self._outputs = FlatLayer.of(layer.weight_hh_l0, layer.bias_hh_l0)
        self.recurrence = Recurrence(*map(array, (*self._inputs[:2], *self._outputs[:2])))

    @property
    def input_weights(self) -> Tensor:
        """Of the recurrent layer."""
        return cast(Tensor, self.memory.weight_ih_l0)

    def forward(self, states: Tensor) -> Tensor:
        """Values of all actions at each step of one episode, given as numbers of states."""
        seen = nn.functional.one_hot(states, self.inputs).to(torch.float32)
        outputs: Tensor = self.memory(seen)[0]
        return cast(Tensor, self.last(torch.relu(self.middle(outputs))))

    def run(self, states: Longs) -> tuple[Tensor, ForwardPass]:
        """The same, and what the backward pass needs."""
        outputs, cells, gates = recurrence.sweep(self.kind, self.recurrence, states)
        one = torch.from_numpy(outputs)
        values, two = self.finish(one)
        return values, ForwardPass(states, one, two, (outputs, cells, gates))

    def gradients(self, forward_pass: ForwardPass, slope: Tensor) -> None:
        """Writes the gradients of all weights, given those of the values."""
        back = self.finish_back(forward_pass.one, forward_pass.two, slope).numpy()
        outputs, cells, gates = forward_pass.inside
        found = recurrence.sweep_back(self.kind, self.recurrence, outputs, cells, gates, back)
        inputs, sums = map(torch.from_numpy, found)
        self._inputs.weight_slope.zero_().index_add_(0, torch.from_numpy(forward_pass.seen), inputs)
        torch.sum(inputs, 0, out=self._inputs.bias_slope)
        torch.mm(sums[1:].T, forward_pass.one[:-1], out=self._outputs.weight_slope)
        torch.sum(sums, 0, out=self._outputs.bias_slope)


def array(tensor: Tensor) -> Singles:
    """The numbers of a tensor where they lie."""
    numbers = tensor.detach().numpy()
    if not numbers.flags.c_contiguous:
        raise ValueError("weights do not lie as the compiled loops need them")
    return cast(Singles, np.asarray(numbers))
