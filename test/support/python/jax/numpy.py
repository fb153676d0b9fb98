"""jax.numpy: arrays whose elements are never changed in place, with `at`."""

import numpy as np


class Array(np.ndarray):
    @property
    def at(self):
        return At(self)

    def __setitem__(self, index, value):
        raise TypeError("arrays of JAX are not changed in place")


class At:
    def __init__(self, array):
        self.array = array

    def __getitem__(self, index):
        return Place(self.array, np.asarray(index))


class Place:
    """Rows of an array; those from its length on do not exist, as JAX's modes "drop" and "fill" take them."""

    def __init__(self, array, index):
        assert (index >= 0).all()
        self.array, self.index = array, index
        self.exists = index < len(array)

    def set(self, value, mode):
        assert mode == "drop"
        copy = np.array(self.array)
        copy[self.index[self.exists]] = np.asarray(value)[self.exists] if self.index.ndim else value
        return copy.view(Array)

    def get(self, mode, fill_value):
        assert mode == "fill"
        found = np.full(self.index.shape + self.array.shape[1:], fill_value, self.array.dtype)
        found[self.exists] = np.asarray(self.array)[self.index[self.exists]]
        return found.view(Array)


def asarray(value):
    return np.asarray(value).view(Array)


def zeros(shape, dtype):
    return np.zeros(shape, dtype).view(Array)


def zeros_like(array):
    return np.zeros_like(np.asarray(array)).view(Array)


def pad(array, widths):
    return np.pad(np.asarray(array), widths).view(Array)


def where(condition, yes, no):
    return np.where(condition, np.asarray(yes), np.asarray(no)).view(Array)
