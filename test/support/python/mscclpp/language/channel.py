from collections import Counter

from mscclpp.language.program import CollectiveProgram
from mscclpp.language.rank import total

SIGNALS = Counter()


class Channel:
    made = Counter()

    def __init__(self, peer, rank):
        self.peer, self.rank = peer, rank
        # the k-th channel of one is that of the other
        key = (type(self), rank, peer)
        self.number = Channel.made[key]
        Channel.made[key] += 1

    def add(self, tb, operation):
        CollectiveProgram.current.add(self.rank, tb, operation)

    def told(self, rank):
        return type(self), rank, self.peer if rank == self.rank else self.rank, self.number

    def signal(self, tb, relaxed=False):
        def tell():
            SIGNALS[self.told(self.peer)] += 1
            return True

        self.add(tb, tell)

    def wait(self, tb, relaxed=False):
        def hear():
            if SIGNALS[self.told(self.rank)] == 0:
                return False
            SIGNALS[self.told(self.rank)] -= 1
            return True

        self.add(tb, hear)

    def put(self, into, source, tb):
        assert (into.rank, source.rank) == (self.peer, self.rank)
        self.add(tb, lambda: into.write(source.read()))


class MemoryChannel(Channel):
    def get(self, into, source, tb):
        assert (into.rank, source.rank) == (self.rank, self.peer)
        self.add(tb, lambda: into.write(source.read()))

    def reduce(self, own, theirs, tb, local_dst_chunk):
        assert own.rank == local_dst_chunk.rank == self.rank and all(chunk.rank == self.peer for chunk in theirs)
        self.add(tb, lambda: local_dst_chunk.write(total([own, *theirs])))


class PortChannel(Channel):
    def put_with_signal(self, into, source, tb):
        self.put(into, source, tb)
        self.signal(tb)

    def flush(self, tb):
        self.add(tb, lambda: True)
