"""torch.multiprocessing: threads in the place of processes."""

import threading

from . import distributed


def spawn(function, args, nprocs):
    world = distributed.World(nprocs)
    errors = []

    def process(rank):
        distributed.here.rank, distributed.here.world = rank, world
        try:
            function(rank, *args)
        except BaseException as error:
            errors.append(error)
            world.barrier.abort()

    threads = [threading.Thread(target=process, args=(rank,)) for rank in range(nprocs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in sorted(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
        raise error
