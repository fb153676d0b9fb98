from mscclpp.language.program import CollectiveProgram


class Chunk:
    def __init__(self, rank, buffer, index, size):
        assert index >= 0 and size > 0
        self.rank, self.buffer, self.index, self.size = rank, buffer, index, size

    def read(self):
        return CollectiveProgram.current.memory.read(self.rank, self.buffer, self.index, self.size)

    def write(self, values):
        assert len(values) == self.size
        CollectiveProgram.current.memory.write(self.rank, self.buffer, self.index, values)
        return True


class Chunks:
    def __init__(self, rank, buffer, first=0):
        self.rank, self.buffer, self.first = rank, buffer, first

    def __getitem__(self, part):
        return Chunk(self.rank, self.buffer, self.first + part.start, part.stop - part.start)


def Buffer(rank, size):
    scratch = CollectiveProgram.current.scratch
    scratch[rank] += size
    return Chunks(rank, "s", scratch[rank] - size)


def total(chunks):
    return [sum(values, []) for values in zip(*(chunk.read() for chunk in chunks))]


class Rank:
    def __init__(self, rank):
        self.rank = rank

    def get_input_buffer(self):
        return Chunks(self.rank, "i")

    def get_output_buffer(self):
        return Chunks(self.rank, "o")

    def copy(self, into, source, tb):
        assert into.rank == source.rank == self.rank
        CollectiveProgram.current.add(self.rank, tb, lambda: into.write(source.read()))

    def reduce(self, source, others, tb, dst_chunk):
        assert all(chunk.rank == self.rank for chunk in [source, dst_chunk, *others])
        CollectiveProgram.current.add(self.rank, tb, lambda: dst_chunk.write(total([source, *others])))
