"""Trains a small network among as many processes as a written all-reduce has ranks, with it and without; torch.distributed is real.

python torch-training.py FILE: prints "fine" where gradients, reductions, types, shapes and orders of ranks are right.
"""

import importlib.util
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def load(path):
    spec = importlib.util.spec_from_file_location("written", path)
    written = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(written)
    return written


def hook(group, bucket):
    group.all_reduce(bucket.buffer().div_(dist.get_world_size()))
    future = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future


def gradients(rank, group):
    torch.manual_seed(7)
    net = torch.nn.Sequential(torch.nn.Linear(10, 57), torch.nn.ReLU(), torch.nn.Linear(57, 3))
    model = torch.nn.parallel.DistributedDataParallel(net)
    if group is not None:
        model.register_comm_hook(group, hook)
    torch.manual_seed(rank)
    model(torch.randn(32, 10)).square().sum().backward()
    return [parameter.grad for parameter in net.parameters()]


def process(rank, folder, path):
    torch.set_num_threads(1)
    written = load(path)
    ranks = written.RANKS
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=ranks)
    group = written.CollectiveGroup()

    for ours, theirs in zip(gradients(rank, group), gradients(rank, None)):
        assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-4)

    operations = dist.ReduceOp
    for op, wanted in ((operations.MAX, ranks - 1), (operations.MIN, 0), (operations.AVG, (ranks - 1) / 2)):
        for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.half):
            tensor = torch.full((3, 5, 7), float(rank), dtype=dtype).transpose(0, 2)
            group.all_reduce(tensor, op)
            assert tensor.shape == (7, 5, 3) and (tensor == wanted).all(), (op, dtype)
    tensor = torch.full((5,), rank + 1)
    group.all_reduce(tensor, operations.PRODUCT)
    assert (tensor == torch.arange(1, ranks + 1).prod()).all()

    tensor = torch.randn(10007)
    group.all_reduce(tensor)
    everywhere = [torch.empty_like(tensor) for _ in range(ranks)]
    dist.all_gather(everywhere, tensor)
    assert all(torch.equal(one, tensor) for one in everywhere), "replicas differ"

    backwards = written.CollectiveGroup(dist.new_group(list(range(ranks))), ranks=list(reversed(range(ranks))))
    tensor = torch.arange(1000) + rank
    backwards.all_reduce(tensor)
    assert torch.equal(tensor, ranks * torch.arange(1000) + ranks * (ranks - 1) // 2)

    for call in (lambda: group.all_reduce(tensor, operations.BAND), lambda: written.CollectiveGroup(ranks=[0])):
        try:
            call()
        except ValueError as error:
            assert str(error).startswith(("op is ", "1 ranks are given")), error
        else:
            raise AssertionError("taken though it cannot be done")
    dist.barrier()
    if rank == 0:
        print("fine")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(process, (folder, sys.argv[1]), load(sys.argv[1]).RANKS)
