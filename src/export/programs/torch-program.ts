import { busFactor, type CollectiveKind, hasRoot } from "../../model/collective/collective.ts";
import { fewPieces } from "../../model/messages/few-pieces.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import {
  buffersOf,
  definitionLines,
  type PythonSubject,
  piecesText,
  pythonSubject,
  pythonTables,
} from "./python-tables.ts";
import { PLAN_TEXT } from "./torch-plan.ts";
import { TIMES_TEXT } from "./torch-times.ts";

/** Above this many transfers every rank would spend its time on reading them. */
const MOST_TRANSFERS = 1e6;

/**
 * Yields the parts of a Python file with a class CollectiveGroup, whose method of torch.distributed's name performs the schedule in
 * rounds of point-to-point messages: on any backend, element type and count of elements (pieces of a block differ by one element
 * where they must). On GPUs a round is one batch_isend_irecv; elsewhere messages are awaited as early as they may come. Run as a
 * program, it compares what the rounds bring with the definition of the collective, on integers, and measures with --time, in
 * processes of its own or under torchrun. Rank r is the r-th NPU of the group. Throws InputError for more than 1e6 transfers and
 * where pythonSubject does. O(transfers log transfers).
 */
export function* torchProgram(schedule: StepSchedule): Generator<string> {
  const subject = pythonSubject(schedule, MOST_TRANSFERS);
  yield heading(subject);
  yield* pythonTables(subject);
  yield `# The schedule sends pieces in this many parts, one after the other. On a CPU they are sent whole.\nPARTS = ${subject.parts}\n`;
  const few = fewPieces(subject.pieces);
  if (few === null) yield "# Small data goes the same ways.\nFEW = PIECES\n";
  else {
    yield "# Small data goes fewer ways, which takes fewer messages: the units of pieces that are left, 0 for others.\n";
    yield `FEW = ${piecesText(subject.pieces, few, subject.parts)}\n`;
  }
  yield PLAN_TEXT;
  yield groupText(subject);
  yield checkText(subject);
  yield TIMES_TEXT;
}

/** What a collective is in torch.distributed. */
interface Method {
  readonly name: string;
  /** Parameters, and those of a call that is shown. */
  readonly parameters: string;
  readonly call: string;
  readonly body: readonly string[];
  /** Lines that have torch.distributed do the same with flat tensors x and y. */
  readonly library: readonly string[];
}

const ROOT_ONLY = (tensor: string): string => `${tensor} if self.rank == ROOT else None`;

const METHODS: Readonly<Record<CollectiveKind, Method>> = {
  allgather: {
    name: "all_gather_into_tensor",
    parameters: "output_tensor, input_tensor",
    call: "output, input",
    body: ["self.into(input_tensor, output_tensor)"],
    library: [
      "try:",
      "    dist.all_gather_into_tensor(y, x)",
      "except RuntimeError:  # gloo before torch 2",
      "    dist.all_gather(list(y.chunk(RANKS)), x)",
    ],
  },
  reducescatter: {
    name: "reduce_scatter_tensor",
    parameters: "output, input, op=dist.ReduceOp.SUM",
    call: "output, input",
    body: ["self.into(input, output, op)"],
    library: [
      "try:",
      "    dist.reduce_scatter_tensor(y, x)",
      "except RuntimeError:  # gloo before torch 2 has none: an all-reduce, then this rank's block of it",
      "    whole = x.clone()",
      "    dist.all_reduce(whole)",
      "    y.copy_(whole.chunk(RANKS)[dist.get_rank()])",
    ],
  },
  allreduce: {
    name: "all_reduce",
    parameters: "tensor, op=dist.ReduceOp.SUM",
    call: "tensor",
    body: ["self.into(tensor, tensor, op)"],
    library: ["if y.data_ptr() != x.data_ptr():", "    y.copy_(x)", "dist.all_reduce(y)"],
  },
  broadcast: {
    name: "broadcast",
    parameters: "tensor, src=None",
    call: "tensor",
    body: ["self.check_root(src)", `self.into(${ROOT_ONLY("tensor")}, tensor)`],
    library: ["if x.numel() and y.data_ptr() != x.data_ptr():", "    y.copy_(x)", "dist.broadcast(y, ROOT)"],
  },
  reduce: {
    name: "reduce",
    parameters: "tensor, dst=None, op=dist.ReduceOp.SUM",
    call: "tensor",
    body: ["self.check_root(dst)", `self.into(tensor, ${ROOT_ONLY("tensor")}, op)`],
    library: [
      "z = y if y.numel() else x.clone()",
      "if y.numel() and y.data_ptr() != x.data_ptr():",
      "    y.copy_(x)",
      "dist.reduce(z, ROOT)",
    ],
  },
  gather: {
    name: "gather",
    parameters: "tensor, gather_list=None, dst=None",
    call: "tensor, gather_list",
    body: [
      "self.check_root(dst)",
      "whole = tensor.new_empty(RANKS * tensor.numel()) if self.rank == ROOT else None",
      "self.into(tensor, whole)",
      "if whole is not None:",
      "    for part, goal in zip(whole.chunk(RANKS), gather_list):",
      "        goal.copy_(part.view(goal.shape))",
    ],
    library: ["dist.gather(x, list(y.chunk(RANKS)) if y.numel() else None, ROOT)"],
  },
  scatter: {
    name: "scatter",
    parameters: "tensor, scatter_list=None, src=None",
    call: "tensor, scatter_list",
    body: [
      "self.check_root(src)",
      "whole = torch.cat([part.reshape(-1) for part in scatter_list]) if self.rank == ROOT else None",
      "self.into(whole, tensor)",
    ],
    library: ["dist.scatter(y, list(x.chunk(RANKS)) if x.numel() else None, ROOT)"],
  },
  alltoall: {
    name: "all_to_all_single",
    parameters: "output, input",
    call: "output, input",
    body: ["self.into(input, output)"],
    library: ["dist.all_to_all_single(y, x)"],
  },
  custom: {
    name: "exchange",
    parameters: "output, input",
    call: "output, input",
    body: ["self.into(input, output)"],
    library: [],
  },
};

const heading = ({ kind, title, ranks }: PythonSubject): string => {
  const { name, call } = METHODS[kind];
  const instead = kind === "custom" ? "" : `, in place of torch.distributed.${name}`;
  return `"""${title}, as point-to-point messages of torch.

Written by Banyan. In a training script${instead}:

    from FILE import CollectiveGroup

    group = CollectiveGroup()  # once, on all ranks, after init_process_group
    group.${name}(${call})
${kind === "allreduce" ? HOOK : ""}
As a program (without torchrun it starts ${ranks} processes itself):

    python FILE [count ...]                                      checks it against its definition
    torchrun --nproc_per_node=${ranks} FILE --size 1MiB,16MiB --time     measures it; --compare: and torch's own
"""

import argparse
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

`;
};

const HOOK = `
Gradients of DistributedDataParallel, averaged by it:

    def hook(group, bucket):
        group.all_reduce(bucket.buffer().div_(RANKS))
        future = torch.futures.Future()
        future.set_result(bucket.buffer())
        return future

    model.register_comm_hook(group, hook)
`;

const indented = (lines: readonly string[], by: number): string =>
  lines.map((line) => `${" ".repeat(by)}${line}\n`).join("");

const groupText = ({ kind, schedule }: PythonSubject): string => {
  const { input, output } = buffersOf(kind);
  const { name, parameters, body } = METHODS[kind];
  const root = hasRoot(kind)
    ? `
    def check_root(self, root):
        """Raises ValueError where another root is asked for than the schedule has."""
        if root is not None and root != self.peers[ROOT]:
            raise ValueError(f"the root is rank {root}; this schedule's is rank {self.peers[ROOT]}")
`
    : "";
  const op = schedule.collective.reduces ? "op" : "None";
  return `
${schedule.collective.reduces ? COMBINE : ""}

class CollectiveGroup:
    """The ranks that carry the schedule out together, each in its place.

    group: a process group of torch.distributed, default all; ranks: which of its ranks (as torch.distributed numbers all
    processes) stands for which of NPUS, default in order; parts: into how many parts pieces are cut, each of them a round after
    the one before, default 1 on CPUs, on GPUs as many as the schedule has but none below PART_BYTES.
    """

    PART_BYTES = 1 << 19

    def __init__(self, group=None, ranks=None, parts=None):
        size = dist.get_world_size(group)
        if ranks is None:
            ranks = range(size) if group is None else [dist.get_global_rank(group, rank) for rank in range(size)]
        self.group, self.peers, self.parts = group, list(ranks), parts
        if len(self.peers) != RANKS:
            raise ValueError(f"{len(self.peers)} ranks are given; the schedule has {RANKS}")
        if dist.get_rank() not in self.peers:
            raise ValueError(f"this process is rank {dist.get_rank()}; it must be one of the ranks {self.peers}")
        self.rank = self.peers.index(dist.get_rank())
        self.plans, self.scratch, self.met = {}, {}, False

    def ${name}(self, ${parameters}):
        """Every rank brings ${input}; it gets ${output}."""
${indented(body, 8)}${root}
    def into(self, input, output${op === "op" ? ", op=dist.ReduceOp.SUM" : ""}):
        """Fills output from input; None stands for a tensor that this rank does not need. They may be the same memory where
        the collective's own is."""
        with torch.no_grad():
            some = output if input is None else input
            x = some.new_empty(0) if input is None else input.detach().contiguous().view(-1)
            y = some.new_empty(0) if output is None else output.detach().contiguous().view(-1)
            count = (x.numel() or y.numel()) // (len(INPUT[self.rank] if x.numel() else OUTPUT[self.rank]) or 1)
            for what, tensor, blocks in (("input", x, INPUT[self.rank]), ("output", y, OUTPUT[self.rank])):
                if tensor.numel() != count * len(blocks):
                    raise ValueError(f"{what} has {tensor.numel()} elements; it needs {len(blocks)} x {count}")
            if x.dtype != y.dtype or x.device != y.device:
                raise ValueError(f"input is {x.dtype} on {x.device}, output {y.dtype} on {y.device}; they must be alike")
            if not self.fits(x, y, count):
                x = x.clone()
            self.run(x, y, count, ${op})
            if output is not None and y.data_ptr() != output.data_ptr():
                output.copy_(y.view(output.shape))

    def fits(self, x, y, count):
        """Returns whether input and output are apart, or share memory block by block."""
        shift, odd = divmod(x.data_ptr() - y.data_ptr(), x.element_size())
        if shift >= y.numel() or -shift >= x.numel():
            return True
        output_at = {block: k * count for k, block in enumerate(OUTPUT[self.rank])}
        starts = [(block, shift + k * count) for k, block in enumerate(INPUT[self.rank])]
        return not odd and all(output_at.get(block) == at for block, at in starts if -count < at < y.numel())

    def plan(self, count, x):
        """Returns what this rank does for blocks of this many elements; made once for each size."""
        size = count * x.element_size()
        parts = self.parts
        if parts is None:
            largest = max([units for block in PIECES for units in block], default=1) * size // UNITS_PER_BLOCK
            parts = max(1, min(PARTS, largest // self.PART_BYTES)) if x.is_cuda else 1
        small = not x.is_cuda and size * MEAN_MESSAGE < SMALL_BYTES
        key = (count, x.element_size(), parts, small)
        if key not in self.plans:
            if len(self.plans) >= 64:
                self.plans.clear()
            self.plans[key] = Plan(self.rank, count, x.element_size(), parts, FEW if small else PIECES)
        return self.plans[key]

    def run(self, x, y, count, op):
        plan = self.plan(count, x)
        scratch = self.scratch.get((x.dtype, x.device))
        if scratch is None or scratch.numel() < plan.scratch:
            scratch = self.scratch[x.dtype, x.device] = x.new_empty(plan.scratch)
        run = Run(plan, x, y, scratch, self.peers, self.group, ${op === "op" ? "combination(op)" : "None"})
        if x.is_cuda:
            if not self.met:
                dist.barrier(group=self.group)  # NCCL wants all ranks in the first call of a group, not only those of round 1
                self.met = True
            run.batches()
        else:
            run.steps()
${op === "op" ? "        if op == dist.ReduceOp.AVG:\n            y.div_(RANKS)\n" : ""}`;
};

const COMBINE = `

def combination(op):
    """Returns the function of two tensors that a reduction applies. Raises ValueError."""
    known = dist.ReduceOp
    functions = [(known.SUM, torch.add), (known.AVG, torch.add), (known.PRODUCT, torch.mul)]
    for one, function in functions + [(known.MIN, torch.minimum), (known.MAX, torch.maximum)]:
        if op == one:
            return function
    raise ValueError(f"op is {op}; it must be SUM, AVG, PRODUCT, MIN or MAX")
`;

const checkText = ({ kind, title, ranks }: PythonSubject): string => `

TITLE = "${title}"
BUS_FACTOR = ${kind === "custom" ? 1 : busFactor(kind, ranks)}
ROOT_COLUMN = ${hasRoot(kind) ? "ROOT" : "-1"}


def definition(inputs):
    """Returns what every rank must have at the end, from what all have at the start."""
${indented(definitionLines(kind, "torch"), 4)}

def library(x, y):
    """Has torch.distributed do the same."""
${indented(METHODS[kind].library.length > 0 ? METHODS[kind].library : ['raise ValueError("torch.distributed has nothing of the kind")'], 4)}

def numbers(rank, count, dtype=torch.int64):
    """Returns a rank's input: random whole numbers, the same for all that start with the same block."""
    high = 1 << 40 if dtype == torch.int64 else max(2, min(8, 256 // RANKS))  # sums of which are exact in any type
    parts = [torch.zeros(0, dtype=dtype)]
    for block in INPUT[rank]:
        generator = torch.Generator().manual_seed(block * RANKS + (rank if REDUCES else 0))
        parts.append(torch.randint(0, high, (count,), generator=generator, dtype=dtype))
    return torch.cat(parts)
`;
