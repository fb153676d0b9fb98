"""Writes a graph of torch as JSON that Banyan reads: nodes with shapes, and what is trained, given and wanted.

    torch-graph.py PROGRAM.pt2 [FILE]            of a program that torch.export.save wrote; or, in Python:
    json.dump(graph_json(torch.export.export(model, inputs)), file)
    json.dump(graph_json(aot_export_joint_simple(step, [*parameters, *inputs], trace_joint=True), trained=2), file)

Of a joint graph the first `trained` primals are parameters; where it is not given, those that have gradients.
"""
import json
import sys


def plain(value):
    if hasattr(value, "all_input_nodes"):
        return {"node": value.name}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return {"number": str(value)}
    return value if value is None or isinstance(value, (bool, int, float, str)) else {"other": str(value)}


def tensor(value):
    """Shape and type of a tensor, of each of several; None for what is no tensor."""
    if isinstance(value, (list, tuple)):
        return [tensor(one) for one in value]
    if not hasattr(value, "shape"):
        return None
    return {"shape": [size if isinstance(size, int) else str(size) for size in value.shape], "dtype": str(value.dtype)}


def described(node):
    target = node.target.__name__ if "built-in" in str(node.target) else str(node.target)
    return {"name": node.name, "op": node.op, "target": target, "args": plain(node.args),
            "kwargs": {key: plain(value) for key, value in node.kwargs.items()}, "value": tensor(node.meta.get("val"))}


def graph_json(program, trained=None, name="torch"):
    nodes, signature = [described(node) for node in program.graph.nodes], getattr(program, "graph_signature", None)
    ends = [end["node"] if isinstance(end, dict) else None for end in nodes[-1]["args"][0]]
    result = {"format": "banyan-torch-graph", "name": name, "nodes": nodes}
    if hasattr(signature, "inputs_to_parameters"):
        constants = [*signature.inputs_to_buffers, *signature.inputs_to_lifted_tensor_constants]
        return {**result, "parameters": [*signature.inputs_to_parameters], "constants": constants, "tangents": [],
                "outputs": [end for end in ends if end in signature.user_outputs], "gradients": []}
    given = [node["name"] for node in nodes if node["op"] == "placeholder"]
    primals = [one for one in given if not one.startswith("tangents")]
    behind = len(ends) - (len(primals) if len(primals) < len(given) else 0)
    pairs = [(one, end) for i, (one, end) in enumerate(zip(primals, ends[behind:])) if end and (trained is None or i < trained)]
    parameters = [one for one, _ in pairs] if trained is None else primals[:trained]
    return {**result, "parameters": parameters, "constants": [], "tangents": given[len(primals):],
            "outputs": ends[:behind], "gradients": pairs}


if __name__ == "__main__":
    import torch
    text = json.dumps(graph_json(torch.export.load(sys.argv[1]), name=sys.argv[1].removesuffix(".pt2")))
    (open(sys.argv[2], "w") if len(sys.argv) > 2 else sys.stdout).write(text + "\n")
