import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { buffersOf, definitionLines, type PythonSubject, pythonSubject, pythonTables } from "./python-tables.ts";

/** Above so many transfers every rank would spend its time on reading them. */
const MOST_TRANSFERS = 1e6;

/**
 * Yields the parts of a Python file with a function of the name (as an identifier) that performs the schedule in rounds of
 * torch.distributed.batch_isend_irecv: on any backend, element type and count of elements (chunks of a block differ by one
 * element where they must: the first count mod n get one more). Run as a program, it compares what the rounds bring with the
 * definition of the collective, on integers, in processes of its own (gloo) or under torchrun. Rank r is the r-th NPU of the
 * group. Throws InputError for more than 1e6 transfers and where pythonSubject does. O(transfers log transfers).
 */
export function* torchProgram(schedule: StepSchedule, name: string): Generator<string> {
  const subject = pythonSubject(schedule, name, MOST_TRANSFERS);
  yield heading(subject);
  yield* pythonTables(subject);
  yield collectiveText(subject);
  yield checkText(subject);
}

const heading = ({ name, title, ranks }: PythonSubject): string => `"""${title}, as point-to-point messages of torch.

Written by Banyan. ${name}(x, count) is a collective call: all ranks make it. To check it against its definition:

    python FILE [count ...]                              starts ${ranks} processes (gloo)
    torchrun --nproc_per_node ${ranks} FILE [count ...]
"""

import functools
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

`;

const collectiveText = ({ name, kind }: PythonSubject): string => {
  const { input, output } = buffersOf(kind);
  return `

@functools.lru_cache
def steps_of(rank):
    """Returns the rounds of a rank: its message out (target, chunk) and in (source, chunk, whether it is added), or None."""
    steps = []
    for messages in ROUNDS:
        out = next(((target, chunk) for source, target, chunk, _ in messages if source == rank), None)
        back = next(((source, chunk, adds) for source, target, chunk, adds in messages if target == rank), None)
        if out or back:
            steps.append((out, back))
    return steps


def ${name}(x, count, ranks=range(RANKS)):
    """Returns ${output}.

    x: flat tensor of this rank, left as it is: ${input}; empty where the rank has none.
    ranks: the ranks of torch.distributed that take part, in order.
    """
    rank = list(ranks).index(dist.get_rank())
    lengths = [count // CHUNKS_PER_BLOCK + (k < count % CHUNKS_PER_BLOCK) for k in range(CHUNKS_PER_BLOCK)]
    sizes = [lengths[chunk % CHUNKS_PER_BLOCK] for chunk in INPUT[rank]]
    if x.dim() != 1 or x.numel() != sum(sizes):
        raise ValueError(f"expected a flat tensor of {sum(sizes)} elements for x but received {tuple(x.shape)}")
    held = dict(zip(INPUT[rank], x.contiguous().split(sizes) if sizes else []))
    for out, back in steps_of(rank):
        operations = []
        if out and lengths[out[1] % CHUNKS_PER_BLOCK]:
            operations.append(dist.P2POp(dist.isend, held[out[1]], ranks[out[0]]))
        if back:
            source, chunk, adds = back
            came = x.new_empty(lengths[chunk % CHUNKS_PER_BLOCK])
            if came.numel():
                operations.append(dist.P2POp(dist.irecv, came, ranks[source]))
        for request in dist.batch_isend_irecv(operations) if operations else []:
            request.wait()
        if back:
            held[chunk] = held[chunk] + came if adds and chunk in held else came
    return torch.cat([x[:0]] + [held[chunk] for chunk in OUTPUT[rank]])
`;
};

const checkText = ({ kind, name, title }: PythonSubject): string => `

def definition(inputs):
    """Returns what every rank must have at the end, from what all have at the start."""
${definitionLines(kind, "torch")
  .map((line) => `    ${line}\n`)
  .join("")}

def numbers(rank, count):
    """Returns a rank's input: random whole numbers, the same for all that start with the same block."""
    parts = []
    for chunk in INPUT[rank][::CHUNKS_PER_BLOCK]:
        generator = torch.Generator().manual_seed(chunk * RANKS + (rank if REDUCES else 0))
        parts.append(torch.randint(0, 1 << 40, (count,), generator=generator))
    return torch.cat([torch.zeros(0, dtype=torch.int64)] + parts)


def check(counts):
    """Raises SystemExit where this rank ends with something else than the definition says."""
    rank = dist.get_rank()
    for count in counts:
        inputs = [numbers(r, count) for r in range(RANKS)]
        found = ${name}(inputs[rank], count)
        if not torch.equal(found, definition(inputs)[rank]):
            raise SystemExit(f"rank {rank} has wrong numbers for {count} elements a block")
    dist.barrier()
    if rank == 0:
        print(f"${title}: correct for {counts} elements a block")


def process(rank, counts, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=RANKS)
    check(counts)
    dist.destroy_process_group()


if __name__ == "__main__":
    counts = [int(text) for text in sys.argv[1:]] or [1, 1009]
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
        check(counts)
    else:
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(process, (counts, folder), RANKS)
`;
