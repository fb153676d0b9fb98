"""A stand-in of MSCCL++'s DSL that carries out what thread blocks are told, one operation of a random block after the other, and
prints how many operations that are."""

import random
from collections import Counter

from collective_memory import Memory


class CollectiveProgram:
    def __init__(self, name, collective, ranks, instances, protocol):
        assert protocol == "Simple" and instances >= 1 and collective.ranks == ranks
        self.memory = Memory(collective.name, ranks, collective.chunks, collective.inplace)
        self.blocks = {}
        self.scratch = Counter()

    def __enter__(self):
        CollectiveProgram.current = self
        return self

    def __exit__(self, *_):
        pass

    def add(self, rank, tb, operation):
        """Adds an operation, which returns whether it could be done."""
        self.blocks.setdefault((rank, tb), []).append(operation)

    def to_json(self):
        draw = random.Random(1)
        done = 0
        waiting = [list(reversed(operations)) for operations in self.blocks.values()]
        while any(waiting):
            able = [operations for operations in waiting if operations and operations[-1]()]
            assert able, "thread blocks wait for each other"
            for operations in able:
                operations.pop()
                done += 1
            draw.shuffle(waiting)
        assert self.memory.is_right(), "the blocks do not make the collective"
        return f"{done} operations"
