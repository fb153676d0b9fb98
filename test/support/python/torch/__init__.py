"""As much of torch as exported programs call, in plain Python: tensors of whole numbers, flat or of rows, that share memory."""

import contextlib
import os
import random

from . import distributed

int8 = uint8 = int32 = int64 = float16 = float32 = float64 = bfloat16 = "number"
no_grad = contextlib.nullcontext


class cuda:
    is_available = staticmethod(lambda: False)


class device:
    def __init__(self, type, index=0):
        self.type = type


class Tensor:
    dtype, device = "number", "here"
    # whether programs are to see a GPU: it shows how they send, not where
    is_cuda = os.environ.get("STAND_IN_GPU") == "1"

    def __init__(self, memory, begin=0, length=None, columns=None):
        self.memory, self.begin, self.columns = memory, begin, columns
        self.length = len(memory) - begin if length is None else length

    @property
    def data(self):
        return self.memory[self.begin : self.begin + self.length]

    @data.setter
    def data(self, values):
        assert len(values) == self.length
        self.memory[self.begin : self.begin + self.length] = values

    @property
    def shape(self):
        return (self.length,) if self.columns is None else (self.length // self.columns, self.columns)

    def numel(self):
        return self.length

    def detach(self):
        return self

    cpu = contiguous = detach

    def to(self, device):
        return self

    def view(self, shape):
        assert shape in (-1, self.shape) and self.columns is None
        return self

    def narrow(self, dimension, begin, length):
        assert dimension == 0 and 0 <= begin <= begin + length <= self.length
        return Tensor(self.memory, self.begin + begin, length)

    def chunk(self, count):
        return list(self.reshape(count, -1))

    def reshape(self, rows, rest=None):
        if rows == -1:
            return Tensor(self.memory, self.begin, self.length)
        assert rest == -1 and self.length % rows == 0
        return Tensor(self.memory, self.begin, self.length, self.length // rows)

    def clone(self):
        return Tensor(self.data)

    def copy_(self, other):
        assert other.length == self.length
        self.data = other.data
        return self

    def data_ptr(self):
        return id(self.memory) + self.begin

    def element_size(self):
        return 1

    def new_empty(self, length):
        return Tensor([None] * length)

    def new_zeros(self, length):
        return Tensor([0] * length)

    def __getitem__(self, index):
        if self.columns is None:
            return Tensor(self.data[index])
        if index >= self.shape[0]:
            raise IndexError(index)
        return Tensor(self.memory, self.begin + index * self.columns, self.columns)

    def __add__(self, other):
        assert self.shape == other.shape
        return Tensor([a + b for a, b in zip(self.data, other.data)], columns=self.columns)

    def __radd__(self, zero):
        assert zero == 0
        return self


def add(a, b, out):
    out.data = [x + y for x, y in zip(a.data, b.data)]


mul = minimum = maximum = None


class Generator:
    def manual_seed(self, seed):
        self.draws = random.Random(seed)
        return self


def zeros(length, dtype):
    return Tensor([0] * length)


def randint(low, high, shape, generator, dtype):
    return Tensor([generator.draws.randrange(low, high) for _ in range(shape[0])])


def cat(tensors):
    return Tensor([value for tensor in tensors for value in tensor.data])


def equal(a, b):
    return a.shape == b.shape and a.data == b.data


def set_num_threads(count):
    pass
