import { InputError } from "../../base/errors.ts";
import { edgeColours } from "../../model/graph/edge-colouring.ts";
import type { PieceMessage, Pieces } from "../../model/messages/pieces.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import {
  buffersOf,
  definitionLines,
  identifier,
  type PythonSubject,
  pythonSubject,
  pythonTables,
} from "./python-tables.ts";

const MOST_TRANSFERS = 1e6;
/** XLA compiles them one by one: 484 took it 53 s. */
const MOST_PERMUTATIONS = 10_000;

/**
 * Yields the parts of a Python file with a function of the name (as an identifier) that performs the schedule inside of JAX's
 * shard_map, a few jax.lax.ppermute for each round: the devices along one axis of a mesh are the ranks, rank r the r-th NPU of
 * the group. Any element type and count of elements: blocks are padded with zeros up to whole units. Run as a program, it compares
 * what the rounds bring with the definition of the collective, on integers, on as many devices of the host as there are ranks.
 * Throws InputError for more than 1e6 transfers or 10,000 permutations, and where pythonSubject does. O(transfers log transfers).
 */
export function* jaxProgram(schedule: StepSchedule, name: string): Generator<string> {
  const subject = { ...pythonSubject(schedule, MOST_TRANSFERS), name: identifier(name) };
  const permutations = subject.pieces.rounds.map((messages) => permutationsOf(messages, subject.pieces));
  const count = permutations.reduce((sum, { length }) => sum + length, 0);
  if (count > MOST_PERMUTATIONS)
    throw new InputError("a schedule to be written for JAX", `at most ${MOST_PERMUTATIONS} permutations`, count).as(
      "out-of-range",
    );
  yield heading(subject);
  yield* pythonTables(subject, permutations);
  yield tablesText;
  yield collectiveText(subject);
  yield checkText(subject);
}

interface JaxSubject extends PythonSubject {
  readonly name: string;
}

/**
 * Returns the messages of a round in permutations: as few as there can be, or, where that moves less, those of a size together,
 * for all of a permutation take as long as its largest.
 */
function permutationsOf(messages: readonly PieceMessage[], { chunks }: Pieces): PieceMessage[][] {
  const size = ({ stored, added }: PieceMessage): number =>
    [...stored, ...added].reduce((sum, piece) => sum + chunks[piece], 0);
  const { colour, count } = edgeColours(
    messages.map(({ source }) => source),
    messages.map(({ target }) => target),
  );
  const few = Array.from({ length: count }, (_, k) => messages.filter((_, i) => colour[i] === k));
  const alike: PieceMessage[][] = [];
  for (const message of [...messages].sort((a, b) => size(b) - size(a))) {
    const meets = (other: PieceMessage): boolean => other.source === message.source || other.target === message.target;
    const found = alike.find((permutation) => !permutation.some(meets));
    if (found === undefined) alike.push([message]);
    else found.push(message);
  }
  const moved = (permutations: readonly (readonly PieceMessage[])[]): number =>
    permutations.reduce((sum, permutation) => sum + Math.max(...permutation.map(size)), 0);
  return moved(alike) < moved(few) ? alike : few;
}

const heading = ({ name, title, ranks }: JaxSubject): string => `"""${title}, as permutations of JAX.

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

def units_of(blocks):
    return [block * UNITS_PER_BLOCK + unit for block in blocks for unit in range(UNITS_PER_BLOCK)]


def tables():
    """Returns where ranks keep units (INPUT_AT, OUTPUT_AT, [ranks, units]), for each permutation of each round its pairs, where
    the units that ranks send and receive are and whether these are added ([ranks, units]), and how many places a rank has:
    PLACES, which stands for none."""
    units, first = [], 0
    for length in [length for pieces in PIECES for length in pieces]:
        units.append(range(first, first + length))
        first += length
    at = [{unit: place for place, unit in enumerate(units_of(blocks))} for blocks in INPUT]

    def sent(pieces, added):
        return [(unit, added) for piece in pieces for unit in units[piece]]

    rounds = [[[(a, b, sent(s, False) + sent(t, True)) for a, b, s, t in group] for group in line] for line in ROUNDS]
    for line in rounds:
        for group in line:
            for _, target, what in group:
                for unit, _ in what:
                    at[target].setdefault(unit, len(at[target]))
    places = max(len(rank) for rank in at)

    def table(group):
        send, receive = np.full((2, RANKS, max(len(what) for _, _, what in group)), places, np.int32)
        adds = np.zeros(send.shape, bool)
        for source, target, what in group:
            send[source, : len(what)] = [at[source][unit] for unit, _ in what]
            receive[target, : len(what)] = [at[target][unit] for unit, _ in what]
            adds[target, : len(what)] = [added for _, added in what]
        return [(source, target) for source, target, _ in group], send, receive, adds

    def places_of(blocks_of):
        table = np.full((RANKS, max(len(blocks) for blocks in blocks_of) * UNITS_PER_BLOCK), places, np.int32)
        for rank, blocks in enumerate(blocks_of):
            table[rank, : len(blocks) * UNITS_PER_BLOCK] = [at[rank][unit] for unit in units_of(blocks)]
        return table

    return places_of(INPUT), places_of(OUTPUT), [[table(group) for group in line] for line in rounds], places


INPUT_AT, OUTPUT_AT, PERMUTATIONS, PLACES = tables()
`;

const collectiveText = ({ name, kind }: JaxSubject): string => {
  const { input, output } = buffersOf(kind);
  return `

def ${name}(x, axis="ranks"):
    """Returns ${output}; zeros at other ranks.

    x: flat array of each device along the axis: ${input}; at other ranks anything, of the same shape.
    """
    count = x.size // (INPUT_AT.shape[1] // UNITS_PER_BLOCK)
    length = -(-count // UNITS_PER_BLOCK)
    rank = lax.axis_index(axis)
    x = jnp.pad(x.reshape(-1, count), ((0, 0), (0, length * UNITS_PER_BLOCK - count))).reshape(-1, length)
    held = jnp.zeros((PLACES, length), x.dtype)
    held = held.at[jnp.asarray(INPUT_AT)[rank]].set(x, mode="drop")
    for permutations in PERMUTATIONS:
        before = held
        for pairs, sends, receives, adds in permutations:
            sent = before.at[jnp.asarray(sends)[rank]].get(mode="fill", fill_value=0)
            came = lax.ppermute(sent, axis, pairs)
            receive = jnp.asarray(receives)[rank]
            if adds.any():
                here = held.at[receive].get(mode="fill", fill_value=0)
                came = came + jnp.where(jnp.asarray(adds)[rank][:, None], here, jnp.zeros_like(here))
            held = held.at[receive].set(came, mode="drop")
    out = held.at[jnp.asarray(OUTPUT_AT)[rank]].get(mode="fill", fill_value=0)
    return out.reshape(-1, length * UNITS_PER_BLOCK)[:, :count].reshape(-1)
`;
};

const checkText = ({ kind, name, title }: JaxSubject): string => `

def definition(inputs):
    """Returns what every rank must have at the end, from what all have at the start."""
${definitionLines(kind, "np")
  .map((line) => `    ${line}\n`)
  .join("")}

def numbers(rank, count):
    """Returns a rank's input: random whole numbers, the same for all that start with the same block."""
    parts = [np.zeros(0, np.int32)]
    for block in INPUT[rank]:
        seed = [block, rank if REDUCES else 0]
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
