import { InputError } from "../../base/errors.ts";
import { roundCount } from "../../model/messages/rounds.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { buffersOf, definitionLines, type PythonSubject, pythonSubject, pythonTables } from "./python-tables.ts";

const MOST_TRANSFERS = 1e6;
/** XLA compiles round by round: 484 took it 53 s. */
const MOST_ROUNDS = 10_000;

/**
 * Yields the parts of a Python file with a function of the name (as an identifier) that performs the schedule inside of JAX's
 * shard_map, a jax.lax.ppermute for each round: the devices along one axis of a mesh are the ranks, rank r the r-th NPU of the
 * group. Any element type and count of elements: blocks are padded with zeros up to whole chunks. Run as a program, it compares
 * what the rounds bring with the definition of the collective, on integers, on as many devices of the host as there are ranks.
 * Throws InputError for more than 1e6 transfers or 10,000 rounds, and where pythonSubject does. O(transfers log transfers).
 */
export function* jaxProgram(schedule: StepSchedule, name: string): Generator<string> {
  const subject = pythonSubject(schedule, name, MOST_TRANSFERS);
  const rounds = roundCount(subject.rounds);
  if (rounds > MOST_ROUNDS)
    throw new InputError("a schedule to be written for JAX", `at most ${MOST_ROUNDS} rounds`, rounds).as(
      "out-of-range",
    );
  yield heading(subject);
  yield* pythonTables(subject);
  yield tablesText;
  yield collectiveText(subject);
  yield checkText(subject);
}

const heading = ({ name, title, ranks }: PythonSubject): string => `"""${title}, as permutations of JAX.

Written by Banyan. ${name}(x, axis) is called inside of shard_map. To check it against its definition, on ${ranks} devices of XLA's
host platform where there are not as many others:

    python FILE [count ...]
"""

import os
import sys

if __name__ == "__main__":
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=${ranks}"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map

`;

const tablesText = `

def tables():
    """Returns where ranks keep chunks (INPUT_AT, OUTPUT_AT, [ranks, chunks]), where the chunks that they send and receive are
    and whether these are added (SEND_AT, RECEIVE_AT, ADDS, [rounds, ranks]), and how many places a rank has: PLACES, which
    stands for none."""
    at = [{chunk: place for place, chunk in enumerate(chunks)} for chunks in INPUT]
    for messages in ROUNDS:
        for _, target, chunk, _ in messages:
            at[target].setdefault(chunk, len(at[target]))
    places = max(len(rank) for rank in at)
    send, receive = np.full((2, len(ROUNDS), RANKS), places, np.int32)
    adds = np.zeros((len(ROUNDS), RANKS), bool)
    for k, messages in enumerate(ROUNDS):
        for source, target, chunk, added in messages:
            send[k, source] = at[source][chunk]
            receive[k, target] = at[target][chunk]
            adds[k, target] = added

    def places_of(chunks_of):
        table = np.full((RANKS, max(len(chunks) for chunks in chunks_of)), places, np.int32)
        for rank, chunks in enumerate(chunks_of):
            table[rank, : len(chunks)] = [at[rank][chunk] for chunk in chunks]
        return table

    return places_of(INPUT), places_of(OUTPUT), send, receive, adds, places


INPUT_AT, OUTPUT_AT, SEND_AT, RECEIVE_AT, ADDS, PLACES = tables()
`;

const collectiveText = ({ name, kind }: PythonSubject): string => {
  const { input, output } = buffersOf(kind);
  return `

def ${name}(x, axis="ranks"):
    """Returns ${output}; zeros at other ranks.

    x: flat array of each device along the axis: ${input}; at other ranks anything, of the same shape.
    """
    count = x.size // (INPUT_AT.shape[1] // CHUNKS_PER_BLOCK)
    length = -(-count // CHUNKS_PER_BLOCK)
    rank = lax.axis_index(axis)
    send, receive, adds = (jnp.asarray(table)[:, rank] for table in (SEND_AT, RECEIVE_AT, ADDS))
    x = jnp.pad(x.reshape(-1, count), ((0, 0), (0, length * CHUNKS_PER_BLOCK - count))).reshape(-1, length)
    held = jnp.zeros((PLACES, length), x.dtype)
    held = held.at[jnp.asarray(INPUT_AT)[rank]].set(x, mode="drop")
    for k, messages in enumerate(ROUNDS):
        sent = held.at[send[k]].get(mode="fill", fill_value=0)
        came = lax.ppermute(sent, axis, [(source, target) for source, target, _, _ in messages])
        if ADDS[k].any():
            here = held.at[receive[k]].get(mode="fill", fill_value=0)
            came = came + jnp.where(adds[k], here, jnp.zeros_like(here))
        held = held.at[receive[k]].set(came, mode="drop")
    out = held.at[jnp.asarray(OUTPUT_AT)[rank]].get(mode="fill", fill_value=0)
    return out.reshape(-1, length * CHUNKS_PER_BLOCK)[:, :count].reshape(-1)
`;
};

const checkText = ({ kind, name, title }: PythonSubject): string => `

def definition(inputs):
    """Returns what every rank must have at the end, from what all have at the start."""
${definitionLines(kind, "np")
  .map((line) => `    ${line}\n`)
  .join("")}

def numbers(rank, count):
    """Returns a rank's input: random whole numbers, the same for all that start with the same block."""
    parts = [np.zeros(0, np.int32)]
    for chunk in INPUT[rank][::CHUNKS_PER_BLOCK]:
        seed = [chunk, rank if REDUCES else 0]
        parts.append(np.random.default_rng(seed).integers(0, 1 << 16, count, dtype=np.int32))
    return np.concatenate(parts)


def check(count):
    """Raises SystemExit where a rank ends with something else than the definition says."""
    inputs = [numbers(rank, count) for rank in range(RANKS)]
    longest = max(len(x) for x in inputs)
    x = np.stack([np.pad(x, (0, longest - len(x)), constant_values=-1) for x in inputs])
    devices = jax.devices() if len(jax.devices()) >= RANKS else jax.devices("cpu")
    mesh = Mesh(np.array(devices[:RANKS]), ("ranks",))
    spec = PartitionSpec("ranks")
    run = jax.jit(shard_map(lambda x: ${name}(x[0])[None], mesh=mesh, in_specs=spec, out_specs=spec))
    found = np.asarray(run(x))
    for rank, wanted in enumerate(definition(inputs)):
        if not np.array_equal(found[rank, : len(wanted)], wanted):
            raise SystemExit(f"rank {rank} has wrong numbers for {count} elements a block")


if __name__ == "__main__":
    counts = [int(text) for text in sys.argv[1:]] or [1, 1009]
    for count in counts:
        check(count)
    print(f"${title}: correct for {counts} elements a block")
`;
