"""torch.distributed among threads: messages between two ranks are matched in order."""

import collections
import threading

here = threading.local()
SECONDS = 5


class Box:
    """What a rank sent another, in order, and how many of these messages that one awaits."""

    def __init__(self):
        self.sent, self.awaited, self.change = [], 0, threading.Condition()

    def put(self, data):
        with self.change:
            self.sent.append(data)
            self.change.notify_all()

    def get(self, ticket):
        with self.change:
            assert self.change.wait_for(lambda: len(self.sent) > ticket, SECONDS), "nothing came"
            return self.sent[ticket]


class World:
    def __init__(self, size):
        self.boxes = collections.defaultdict(Box)
        self.barrier = threading.Barrier(size)
        self.lock = threading.Lock()

    def box(self, source, target):
        with self.lock:
            return self.boxes[source, target]


class Request:
    def __init__(self, wait):
        self.wait = wait


class P2POp:
    def __init__(self, op, tensor, peer, group):
        self.op, self.tensor, self.peer, self.group = op, tensor, peer, group


class ReduceOp:
    SUM, AVG, PRODUCT, MIN, MAX = range(5)


def isend(tensor, peer, group=None):
    """Sends what is there; it must still be there when the program waits, for a library may send it as late."""
    sent = list(tensor.data)
    here.world.box(here.rank, peer).put(sent)

    def wait():
        assert tensor.data == sent, "what is being sent was changed"

    return Request(wait)


def irecv(tensor, peer, group=None):
    """Receives at the last moment, into memory that nobody may use before."""
    tensor.data = nothing = [None] * tensor.numel()
    box = here.world.box(peer, here.rank)
    ticket = box.awaited
    box.awaited += 1

    def wait():
        data = box.get(ticket)
        assert len(data) == tensor.numel(), f"{len(data)} elements came, not {tensor.numel()}"
        assert tensor.data == nothing, "memory that waits for a message was used"
        tensor.data = data

    return Request(wait)


def batch_isend_irecv(operations):
    """Posts operations, of which there must be some."""
    assert operations
    return [operation.op(operation.tensor, operation.peer, operation.group) for operation in operations]


def init_process_group(backend, init_method, rank, world_size):
    assert (backend, rank) == ("gloo", here.rank)


def destroy_process_group():
    assert all(len(box.sent) == box.awaited for box in here.world.boxes.values()), "messages that nobody received"


def get_rank():
    return here.rank


def get_world_size(group=None):
    return here.world.barrier.parties


def is_nccl_available():
    return False


def barrier(group=None):
    here.world.barrier.wait(SECONDS)
