"""As much of torch as exported programs call, in plain Python: tensors of whole numbers in one or two dimensions."""

import random

int64 = "int64"


class Tensor:
    def __init__(self, data, columns=None):
        self.data, self.columns = data, columns

    @property
    def shape(self):
        return (len(self.data),) if self.columns is None else (len(self.data) // self.columns, self.columns)

    def dim(self):
        return len(self.shape)

    def numel(self):
        return len(self.data)

    def contiguous(self):
        return self

    def split(self, sizes):
        assert sum(sizes) == len(self.data)
        ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
        return tuple(Tensor(self.data[end - size : end]) for size, end in zip(sizes, ends))

    def reshape(self, rows, rest):
        assert rest == -1 and len(self.data) % rows == 0
        return Tensor(self.data, len(self.data) // rows)

    def new_empty(self, length):
        return Tensor([None] * length)

    def __getitem__(self, index):
        if self.columns is None:
            return Tensor(self.data[index])
        if index >= self.shape[0]:
            raise IndexError(index)
        return Tensor(self.data[index * self.columns : (index + 1) * self.columns])

    def __add__(self, other):
        assert self.shape == other.shape
        return Tensor([a + b for a, b in zip(self.data, other.data)], self.columns)

    def __radd__(self, zero):
        assert zero == 0
        return self


class Generator:
    def manual_seed(self, seed):
        self.draws = random.Random(seed)
        return self


def zeros(length, dtype):
    return Tensor([0] * length)


def randint(low, high, shape, generator):
    return Tensor([generator.draws.randrange(low, high) for _ in range(shape[0])])


def cat(tensors):
    return Tensor([value for tensor in tensors for value in tensor.data])


def equal(a, b):
    return a.shape == b.shape and a.data == b.data
