"""Told of files of torch placements, and of what each NPU has (standard input), says what PyTorch's DTensor makes otherwise."""

import json
import runpy
import sys

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.testing._internal.distributed.fake_pg import FakeStore

plans = json.load(sys.stdin)
wrong = []
compared = 0
for plan in plans:
    file = runpy.run_path(plan["path"])
    if not all(name.isidentifier() for name in file["MESH_AXES"]) or len(set(file["MESH_AXES"])) < len(file["MESH_AXES"]):
        wrong.append(file["MESH_AXES"])
    for table, tensors in plan["tables"].items():
        if sorted(file[table]) != sorted(tensors):
            wrong.append([table, sorted(file[table]), sorted(tensors)])
    for rank in range(plan["npus"]):
        dist.init_process_group("fake", rank=rank, world_size=plan["npus"], store=FakeStore())
        mesh = file["device_mesh"]("cpu")
        for table, tensors in plan["tables"].items():
            for name, facts in tensors.items():
                placed = file[table][name] if table == "COPIES" else [file[table][name]]
                if len(placed) != len(facts["placed"]):
                    wrong.append([table, name, "number of copies"])
                whole = torch.arange(int(np.prod(facts["shape"]))).reshape(facts["shape"])
                for placements, ours in zip(placed, facts["placed"]):
                    own = ours["indices"][rank]
                    compared += 1
                    made = DTensor.from_local(torch.empty([len(x) for x in own]), mesh, placements, run_check=False)
                    if list(made.shape) != facts["shape"] or [p.is_partial() for p in placements] != ours["partial"]:
                        wrong.append([table, name, rank, list(made.shape)])
                    if any(ours["partial"]):
                        continue
                    local = distribute_tensor(whole, mesh, placements, src_data_rank=None).to_local()
                    if list(local.shape) != [len(x) for x in own]:
                        wrong.append([table, name, rank, list(local.shape)])
                    elif rank == plan["npus"] - 2 and local.equal(whole[np.ix_(*own)] if own else whole) != ours["same"]:
                        wrong.append([table, name, rank, "elements", ours["same"]])
        dist.destroy_process_group()
print(json.dumps({"compared": compared, "wrong": wrong}))
