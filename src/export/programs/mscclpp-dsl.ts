import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { BUFFER_LETTERS, OPS, type Program, VIA, WAIT_EVENT } from "../../model/program/program.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import { languageCollective, leastShift } from "./program-moves.ts";
import { oneLine, pythonString } from "./python-tables.ts";

/** What operations are called in the file; those of the first two take peers only. */
const WORDS: Readonly<Record<string, string>> = {
  ...{ signal: "signal", rlxsignal: "rlxsignal", wait: "wait", rlxwait: "rlxwait", flush: "flush" },
  ...{ put: "put", pws: "put_with_signal", pwsf: "put_with_signal_and_flush", get: "get" },
  ...{ copy: "copy", re: "reduce", rre: "reduce" },
};

/**
 * Yields the parts of a Python file that makes an MSCCL++ plan of the program with MSCCL++'s own DSL (mscclpp.language): a line for each
 * thread block, and the loop that says it. Where ranks do the same, the lines are those of the first ones. Where threads must meet
 * is left to the DSL. `instances` is how often it is to be replicated, which chunks of one operation only allow. `about`: lines of
 * the heading. Throws InputError for collectives and operations that it does not write. O(instructions).
 */
export function* mscclppDslProgram(program: Program, about: readonly string[], instances = 1): Generator<string> {
  const { collective, rankCount, loopChunks, inPlace, protocol, scratchChunks } = program;
  const [python, blocked] = languageCollective(collective, "mscclpp-dsl");
  // the DSL cuts all buffers of a collective in blocks
  const times = rankCount / greatestDivisor(loopChunks, rankCount);
  const block = (loopChunks * times) / rankCount;
  const words = wordsOf(program, blocked, times);
  const shift = leastShift(rankCount, (rank, by) => words(rank, by).join("\n"));
  const title = `${collective} of ${rankCount} ranks, as a program of MSCCL++'s DSL.`;
  yield `"""${[title, "", ...about.map(oneLine)].join("\n")}

With MSCCL++'s Python package, this prints an execution plan:

    python FILE [instances]
"""

import sys

from mscclpp.language.channel import MemoryChannel, PortChannel
from mscclpp.language.collectives import ${python}
from mscclpp.language.program import CollectiveProgram
from mscclpp.language.rank import Buffer, Rank

NAME = ${pythonString(oneLine(program.name))}
RANKS = ${rankCount}
INPLACE = ${inPlace ? "True" : "False"}
# Chunks of a rank's block, and of scratch memory.
CHUNKS = ${block}
SCRATCH = ${Math.max(...scratchChunks) * times}

# A line for each thread block: its rank and number, then what it does. "signal:1" and "wait:1" tell and await rank 1; "put:1:o5<i2*3"
# puts 3 chunks from number 2 of its input on into the output of rank 1 from number 5 on, "get" the other way round; "copy::o5<i2" is
# its own; "reduce:1:o5<i2+i3" adds what rank 1 has in i3. i: input, o: output, s: scratch. p1: over a port, 1#2: channel 2 to rank 1.
`;
  if (shift < rankCount)
    yield `# ${shift === 1 ? "Rank 0 does this" : `Ranks 0 to ${shift - 1} do this`}; the others do the same, with ranks and their blocks in ${blocked.map((b) => BUFFER_LETTERS[b]).join(" and ")} counted on.\n`;
  yield 'BLOCKS = """\n';
  for (let rank = 0; rank < shift; rank++) for (const line of words(rank, 0)) yield `${line}\n`;
  yield `"""
SHIFTS = range(0, RANKS, ${shift})
`;
  yield script(python, blocked.map((b) => BUFFER_LETTERS[b]).join(""), protocol, instances);
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

/** Returns a function that says what the blocks of a rank do, with ranks counted from `shift` on. */
function wordsOf(program: Program, blocked: readonly number[], times: number) {
  const { rankCount, loopChunks, blockOffset, blockId, instructionOffset, op } = program;
  const chunks = loopChunks * times;
  return (rank: number, shift: number): string[] => {
    const ahead = (r: number): number => (r - rank + rankCount) % rankCount;
    const place = (at: number): string => {
      const buffer = program.operandBuffer[at];
      const index = program.operandIndex[at] * times;
      const shifted = blocked.includes(buffer) ? (index - (shift * chunks) / rankCount + chunks) % chunks : index;
      return `${BUFFER_LETTERS[buffer]}${shifted}`;
    };
    const peerText = (peer: number, via: number, channel: number): string =>
      `${VIA[via] === "port" ? "p" : ""}${(peer - shift + rankCount) % rankCount}${channel > 0 ? `#${channel}` : ""}`;
    const lines: string[] = [];
    for (let b = blockOffset[rank]; b < blockOffset[rank + 1]; b++) {
      const channels = channelsOf(program, b);
      const said: string[] = [];
      let run: { word: string; ahead: number; text: string }[] = [];
      const flush = (): void => {
        said.push(...run.sort((x, y) => x.ahead - y.ahead).map(({ word, text }) => `${word}:${text}`));
        run = [];
      };
      let last = -1;
      for (let i = instructionOffset[b]; i < instructionOffset[b + 1]; i++) {
        if (op[i] !== last || SUMS.has(OPS[op[i]])) flush();
        last = op[i];
        if (OPS[op[i]] === "nop") continue;
        const word = wordFor(program, i);
        for (const { peer, via, text, channel } of actsOf(program, i, rank, times, place)) {
          const number = channel ?? channels.get(`${peer} ${via}`) ?? 0;
          const to = peer < 0 ? "" : peerText(peer, via, number);
          run.push({ word, ahead: peer < 0 ? -1 : ahead(peer), text: text === "" ? to : `${to}:${text}` });
        }
      }
      flush();
      lines.push(`${(rank - shift + rankCount) % rankCount}.${blockId[b]} ${said.join(" ")}`);
    }
    return lines;
  };
}

/** Sums into one place are not to change their order. */
const SUMS: ReadonlySet<string> = new Set(["re", "rre"]);

/** Returns the numbers of the channels on which a block tells or awaits peers, by "peer via". */
function channelsOf(program: Program, block: number): ReadonlyMap<string, number> {
  const {
    instructionOffset,
    waitOffset,
    waitKind,
    waitOn,
    postOffset,
    postOn,
    eventPeer,
    eventRank,
    eventVia,
    eventId,
  } = program;
  const found = new Map<string, number>();
  for (let i = instructionOffset[block]; i < instructionOffset[block + 1]; i++) {
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++)
      if (waitKind[w] === WAIT_EVENT) found.set(`${eventPeer[waitOn[w]]} ${eventVia[waitOn[w]]}`, eventId[waitOn[w]]);
    for (let p = postOffset[i]; p < postOffset[i + 1]; p++)
      found.set(`${eventRank[postOn[p]]} ${eventVia[postOn[p]]}`, eventId[postOn[p]]);
  }
  return found;
}

function wordFor({ op, operandPacket, operandOffset }: Program, i: number): string {
  const name = OPS[op[i]];
  const word = operandPacket.subarray(operandOffset[i], operandOffset[i + 1]).includes(1) ? undefined : WORDS[name];
  if (word !== undefined) return word;
  const known = Object.keys(WORDS).join(", ");
  throw new InputError(`${optionName("to", " mscclpp-dsl")}`, `a plan of ${known} (mscclpp-json writes all)`, name);
}

/** What an instruction does with a peer, -1 for none; `channel` where it names one. */
interface Act {
  readonly peer: number;
  readonly via: number;
  readonly text: string;
  readonly channel?: number;
}

function* actsOf(
  program: Program,
  i: number,
  rank: number,
  times: number,
  place: (at: number) => string,
): Generator<Act> {
  const { operandOffset, operandRank, sourceCount, waitOffset, waitOn, postOffset, postOn, via, chunks } = program;
  const { eventPeer, eventRank, eventVia, eventId } = program;
  const [first, end] = [operandOffset[i], operandOffset[i + 1]];
  const many = chunks[i] * times > 1 ? `*${chunks[i] * times}` : "";
  const event = (e: number, peer: number, text: string): Act => ({ peer, via: eventVia[e], text, channel: eventId[e] });
  if (first === end) {
    if (OPS[program.op[i]] === "flush") yield { peer: -1, via: via[i], text: "" };
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) yield event(waitOn[w], eventPeer[waitOn[w]], "");
    for (let p = postOffset[i]; p < postOffset[i + 1]; p++) yield event(postOn[p], eventRank[postOn[p]], "");
    return;
  }
  const to = first + sourceCount[i];
  const target = operandRank[to];
  const posts = postOffset[i + 1] > postOffset[i] ? postOn[postOffset[i]] : -1;
  const remotes = Array.from({ length: to - first }, (_, k) => first + k).filter((at) => operandRank[at] !== rank);
  const own = Array.from({ length: to - first }, (_, k) => first + k).filter((at) => operandRank[at] === rank);
  if (remotes.length === 0) {
    const text = `${place(to)}<${own.map(place).join("+")}${many}`;
    if (posts >= 0) yield event(posts, target, text);
    else yield { peer: target === rank ? -1 : target, via: via[i], text };
    return;
  }
  // each peer's part of a sum on its own, in turn
  const ahead = (at: number): number => (operandRank[at] - rank + program.rankCount) % program.rankCount;
  remotes.sort((a, b) => ahead(a) - ahead(b));
  for (const [k, at] of remotes.entries()) {
    const base = k === 0 ? own.map(place) : [place(to)];
    yield { peer: operandRank[at], via: via[i], text: `${place(to)}<${[...base, place(at)].join("+")}${many}` };
  }
}

const script = (python: string, blocked: string, protocol: string, instances: number): string => `
CHANNELS = {}


def channel(text, rank, shift):
    """Returns the rank of a peer like 1, p1 or p1#2, and the channel to it."""
    kind = PortChannel if text.startswith("p") else MemoryChannel
    peer, _, number = text.lstrip("p").partition("#")
    peer = (int(peer) + shift) % RANKS
    made = CHANNELS.setdefault((kind, rank, peer), [])
    while len(made) <= int(number or 0):
        made.append(kind(peer, rank))
    return peer, made[int(number or 0)]


def chunks(text, rank, shift, first, size):
    """Returns this many chunks of a rank from a place like o5 on, this many blocks further; \`first\` is added."""
    index = int(text[1:])
    if text[0] in "${blocked}":
        index = (index + shift * CHUNKS) % (RANKS * CHUNKS)
    buffers = {"i": Rank(rank).get_input_buffer, "o": Rank(rank).get_output_buffer, "s": lambda: SCRATCHES[rank]}
    return buffers[text[0]]()[index + first : index + first + size]


def act(text, rank, tb, shift, single):
    """Says one operation of a thread block, chunk by chunk if \`single\`."""
    name, peer, what = (text + ":").split(":")[:3]
    other, over = channel(peer, rank, shift) if peer else (rank, Rank(rank))
    if not what:
        PUTS.pop((rank, tb), None)
        if name == "flush":
            for (kind, own, _), made in CHANNELS.items():
                if kind is PortChannel and own == rank:
                    made[0].flush(tb)
        else:
            relaxed = {"relaxed": True} if name.startswith("rlx") else {}
            getattr(over, name.removeprefix("rlx"))(tb, **relaxed)
        return
    what, _, count = what.partition("*")
    count = int(count or 1)
    size = 1 if single else count
    for k in range(0, count, size):
        # only the last part tells that all is there, once the threads that put the others have met
        word = "put" if name.startswith("put") and k + size < count else name
        if word != "put" and name.startswith("put") and k > 0:
            Rank(rank).barrier([tb])
        together(rank, tb, word, size)
        into, sources = what.split("<")
        parts = sources.split("+")
        if name == "reduce":
            own = [chunks(part, rank, shift, k, size) for part in (parts[:-1] if peer else parts)]
            last = [chunks(parts[-1], other, shift, k, size)] if peer else own[1:]
            into = chunks(into, rank, shift, k, size)
            over.reduce(own[0], last, tb, **{"local_dst_chunk" if peer else "dst_chunk": into})
        else:
            there = other if name.startswith("put") else rank
            source = rank if name.startswith("put") else other
            getattr(over, word)(chunks(into, there, shift, k, size), chunks(parts[0], source, shift, k, size), tb)


# By thread block: the last kind of put, and how many of it came in a row.
PUTS = {}


def together(rank, tb, word, size):
    """Lets threads meet before the DSL makes one operation of more puts than an executor takes."""
    kind, many = PUTS.get((rank, tb), (None, 0))
    if not word.startswith("put") or kind != (word, size):
        many = 0
    elif many == ${MSCCLPP_RUNTIME.channelsPerOp}:
        Rank(rank).barrier([tb])
        many = 0
    PUTS[rank, tb] = ((word, size), many + 1)


SCRATCHES = []


def main(instances=${instances}):
    """Prints the plan. With several instances chunks are cut, each for itself in thread blocks of its own."""
    instances = int(instances)
    collective = ${python}(RANKS, CHUNKS, INPLACE)
    with CollectiveProgram(NAME, collective, RANKS, instances=instances, protocol="${protocol}") as program:
        SCRATCHES.extend(Buffer(rank, SCRATCH) for rank in range(RANKS) if SCRATCH > 0)
        for line in BLOCKS.strip().split("\\n"):
            block, *acts = line.split()
            rank, tb = map(int, block.split("."))
            for shift in SHIFTS:
                for text in acts:
                    act(text, (rank + shift) % RANKS, tb, shift, instances > 1)
        print(program.to_json())


if __name__ == "__main__":
    main(*sys.argv[1:])
`;
