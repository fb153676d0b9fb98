"""Told of files of JAX specs, and of what each NPU has (standard input), says what JAX makes otherwise."""

import json
import runpy
import sys

from jax.sharding import NamedSharding

plans = json.load(sys.stdin)
wrong = []
compared = 0
for plan in plans:
    file = runpy.run_path(plan["path"])
    mesh = file["device_mesh"]()
    devices = list(mesh.devices.flat)
    for table, tensors in plan["tables"].items():
        said = {name for name, facts in tensors.items() if not any(any(one["partial"]) for one in facts["placed"])}
        if set(file[table]) != said:
            wrong.append([table, sorted(file[table]), sorted(said)])
        for name in said:
            shape = tuple(tensors[name]["shape"])
            specs = file[table][name] if table == "COPIES" else [file[table][name]]
            if len(specs) != len(tensors[name]["placed"]):
                wrong.append([table, name, "number of copies"])
            for spec, ours in zip(specs, tensors[name]["placed"]):
                sharding = NamedSharding(mesh, spec)
                compared += 1
                if list(sharding.shard_shape(shape)) != [len(x) for x in ours["indices"][0]]:
                    wrong.append([table, name, str(spec)])
                parts = sharding.devices_indices_map(shape)
                theirs = [[list(range(*s.indices(n))) for s, n in zip(parts[d], shape)] for d in devices]
                if (theirs == ours["indices"]) != ours["same"]:
                    wrong.append([table, name, str(spec), "elements", ours["same"]])
print(json.dumps({"compared": compared, "wrong": wrong}))
