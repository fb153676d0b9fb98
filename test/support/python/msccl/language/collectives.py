class Collective:
    def __init__(self, ranks, chunks, inplace):
        self.ranks, self.chunks, self.inplace = ranks, chunks, inplace
        # of an all-reduce chunks are those of all data
        self.parts = ranks if self.name == "allreduce" else 1


class AllGather(Collective):
    name = "allgather"


class ReduceScatter(Collective):
    name = "reducescatter"


class AllReduce(Collective):
    name = "allreduce"


class AllToAll(Collective):
    name = "alltoall"
