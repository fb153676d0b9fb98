"""As much of JAX as exported programs call, on numpy: a thread for each device, values that are there at once."""

import os
import re
import threading

import numpy as np

from . import lax, numpy, sharding
from .numpy import Array


def devices(platform=None):
    count = re.search(r"host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
    return list(range(int(count[1]) if count else 1))


def jit(function):
    return function


def shard_map(function, *, mesh, in_specs, out_specs):
    """Returns a function that calls `function` on each device with its part of the first axis of the one argument."""
    assert in_specs.axes == out_specs.axes == mesh.axes and len(mesh.axes) == 1

    def run(whole):
        count = len(mesh.devices)
        parts = np.split(np.asarray(whole), count)
        results = [None] * count
        errors = []
        meeting = lax.Meeting(mesh.axes[0], count)

        def device(rank):
            lax.here.rank, lax.here.meeting = rank, meeting
            try:
                results[rank] = function(parts[rank].view(Array))
            except Exception as error:
                errors.append(error)
                meeting.barrier.abort()

        threads = [threading.Thread(target=device, args=(rank,)) for rank in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for error in sorted(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
            raise error
        return np.concatenate(results)

    return run
