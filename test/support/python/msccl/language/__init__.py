"""A stand-in of MSCCLang that does what a program says, and prints how many messages that are."""

from enum import Enum

from collective_memory import Memory


class Buffer(Enum):
    input = "i"
    output = "o"


class MSCCLProgram:
    def __init__(self, name, ranks, collective, instances, protocol, instr_fusion=True):
        assert protocol in ("Simple", "LL", "LL128") and instances >= 1
        assert collective.ranks == ranks
        chunks = collective.chunks / collective.parts if collective.parts > 1 else collective.chunks
        self.memory = Memory(collective.name, ranks, chunks, collective.inplace)
        self.messages = 0

    def __enter__(self):
        global program
        program = self

    def __exit__(self, *_):
        pass


class Chunk:
    def __init__(self, rank, buffer, index, size):
        self.rank, self.buffer, self.index, self.size = rank, getattr(buffer, "value", buffer), index, size

    def read(self):
        return program.memory.read(self.rank, self.buffer, self.index, self.size)

    def write(self, values):
        program.memory.write(self.rank, self.buffer, self.index, values)

    def copy(self, rank, buffer, index):
        program.messages += rank != self.rank
        Chunk(rank, buffer, index, self.size).write(self.read())

    def reduce(self, other):
        program.messages += other.rank != self.rank
        # between ranks MSCCLang adds at the place of the sender
        assert other.rank == self.rank or (other.buffer, other.index) == (self.buffer, self.index)
        assert other.size == self.size
        self.write([mine + more for mine, more in zip(self.read(), other.read())])


def chunk(rank, buffer, index, size=1):
    made = Chunk(rank, buffer, index, size)
    made.read()
    return made


def Check():
    return program.memory.is_right()


def XML():
    print(f"{program.messages} messages")
