"""Writes a graph of torch as JSON that Banyan reads: nodes with shapes, and what is trained, given and wanted.

    torch-graph.py PROGRAM.pt2 [FILE]                          of a program that torch.export.save wrote

    from torch_graph import graph_json                         (a copy of this file under that name)
    json.dump(graph_json(torch.export.export(model, inputs)), file)
    json.dump(graph_json(aot_export_joint_simple(step, [*parameters, *inputs], trace_joint=True), trained=2), file)

Of a joint graph the first `trained` primals are parameters (without it: those that have gradients).
"""
import json
import sys


def plain(value, node_type):
    if isinstance(value, node_type):
        return {"node": value.name}
    if isinstance(value, (list, tuple)):
        return [plain(one, node_type) for one in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else {"number": str(value)}
    return {"other": str(value)}


def tensor(value):
    """Shape and type of a tensor, of each of several; None for what is no tensor."""
    if isinstance(value, (list, tuple)):
        return [tensor(one) for one in value]
    if not hasattr(value, "shape"):
        return None
    return {"shape": [size if isinstance(size, int) else str(size) for size in value.shape], "dtype": str(value.dtype)}


def graph_json(program, trained=None, name="torch"):
    import torch
    node_type, signature = torch.fx.Node, getattr(program, "graph_signature", None)
    nodes = [{"name": node.name, "op": node.op,
              "target": getattr(node.target, "__name__", "") if node.target is not None and "built-in" in str(node.target) else str(node.target),
              "args": plain(node.args, node_type), "kwargs": {key: plain(value, node_type) for key, value in node.kwargs.items()},
              "value": tensor(node.meta.get("val"))} for node in program.graph.nodes]
    ends = [None if end is None else end.get("node") if isinstance(end, dict) else None for end in nodes[-1]["args"][0]]
    given = [node["name"] for node in nodes if node["op"] == "placeholder"]
    result = {"format": "banyan-torch-graph", "name": name, "nodes": nodes}
    if signature is not None and hasattr(signature, "inputs_to_parameters"):
        constants = [*signature.inputs_to_buffers, *getattr(signature, "inputs_to_lifted_tensor_constants", {})]
        wanted = [end for end in ends if end in signature.user_outputs]
        return {**result, "parameters": [*signature.inputs_to_parameters], "constants": constants, "tangents": [], "outputs": wanted, "gradients": []}
    primals = [one for one in given if not one.startswith("tangents")]
    grads = list(zip(primals, ends[len(ends) - len(primals):])) if len(primals) < len(given) else []
    pairs = [[one, end] for i, (one, end) in enumerate(grads) if end and (trained is None or i < trained)]
    return {**result, "parameters": [one for one, _ in pairs] if trained is None else primals[:trained], "constants": [],
            "tangents": given[len(primals):], "outputs": ends[:len(ends) - len(grads)], "gradients": pairs}


if __name__ == "__main__":
    import torch
    text = json.dumps(graph_json(torch.export.load(sys.argv[1]), name=sys.argv[1].removesuffix(".pt2")), separators=(",", ":"))
    (open(sys.argv[2], "w") if len(sys.argv) > 2 else sys.stdout).write(text + "\n")
