"""Memory of ranks, and what collectives make of it, for the stand-ins of languages: a chunk is a list of (rank, chunk) that it is the
sum of, None before anything was written."""


class Memory:
    def __init__(self, name, ranks, chunks, inplace):
        self.name, self.ranks, self.chunks, self.inplace = name, ranks, chunks, inplace
        whole = round(ranks * chunks)
        sizes = {"allgather": (chunks, whole), "reducescatter": (whole, chunks)}.get(name, (whole, whole))
        self.cells = {}
        for rank in range(ranks):
            for k in range(sizes[0]):
                self.cells[self.cell(rank, "i", k)] = [(rank, k)]

    def cell(self, rank, buffer, index):
        """Returns the cell of a place: in place, input and output are the same memory."""
        if self.inplace and buffer in "io":
            if self.name == "allgather" and buffer == "i":
                return rank, "x", rank * self.chunks + index
            if self.name == "reducescatter" and buffer == "o":
                return rank, "x", rank * self.chunks + index
            return rank, "x", index
        return rank, buffer, index

    def read(self, rank, buffer, index, size):
        values = [self.cells[self.cell(rank, buffer, index + k)] for k in range(size)]
        return [list(value) for value in values]

    def write(self, rank, buffer, index, values):
        for k, value in enumerate(values):
            self.cells[self.cell(rank, buffer, index + k)] = value

    def is_right(self):
        """Returns whether all outputs hold what the collective's definition says, every contribution once."""
        everyone, chunks = range(self.ranks), self.chunks
        for rank in everyone:
            for k in range(chunks if self.name == "reducescatter" else round(self.ranks * chunks)):
                expected = {
                    "allgather": [(k // chunks, k % chunks)],
                    "alltoall": [(k // chunks, rank * chunks + k % chunks)],
                    "allreduce": [(other, k) for other in everyone],
                    "reducescatter": [(other, rank * chunks + k) for other in everyone],
                }[self.name]
                if sorted(self.cells.get(self.cell(rank, "o", k)) or []) != expected:
                    return False
        return True
