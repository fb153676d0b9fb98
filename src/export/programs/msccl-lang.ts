import { BUFFER_LETTERS, type Program, SCRATCH } from "../../model/program/program.ts";
import { languageCollective, leastShift, type ProgramMove, programMoves } from "./program-moves.ts";
import { oneLine, pythonString } from "./python-tables.ts";

/**
 * Yields the parts of a Python file that makes the algorithm of an msccl program with MSCCLang (msccl-tools' msccl.language): a table
 * of what is copied and added, round by round, and the loop that says it. Where ranks do the same, the table is that of the first ones.
 * Thread blocks, channels and waits are left to the tool. `about`: lines of the heading. Throws InputError for collectives that it
 * does not have, and where `programMoves` does. O(instructions + chunks moved).
 */
export function* mscclLangProgram(program: Program, about: readonly string[]): Generator<string> {
  const { collective, rankCount, loopChunks, inPlace, outOfPlace, protocol } = program;
  const [python, blocked] = languageCollective(collective, "msccl-lang");
  const whole = collective === "allreduce";
  const factor = whole ? loopChunks : loopChunks / rankCount;
  const block = loopChunks % rankCount === 0 ? loopChunks / rankCount : 0;
  const rounds = programMoves(program);
  /** Returns a move with ranks counted from `shift` on; `spare`: where what is added elsewhere arrives first. */
  const textOf = (move: ProgramMove, shift: number, spare: number): string => {
    const rank = (r: number): number => (r - shift + rankCount) % rankCount;
    const index = (buffer: number, at: number): number =>
      blocked.includes(buffer) ? (at - shift * block + loopChunks) % loopChunks : at;
    const { source, sourceBuffer, sourceIndex, target, targetBuffer, targetIndex, chunks, adds } = move;
    const from = `${rank(source)}${BUFFER_LETTERS[sourceBuffer]}${index(sourceBuffer, sourceIndex)}`;
    const to = `${rank(target)}${BUFFER_LETTERS[targetBuffer]}${index(targetBuffer, targetIndex)}`;
    const many = chunks > 1 ? `*${chunks}` : "";
    if (!addsElsewhere(move)) return `${from}${adds ? "+" : ">"}${to}${many}`;
    const first = `${rank(target)}t${spare}`;
    return `${from}>${first}${many} ${first}+${to}${many}`;
  };
  const ofRank = rounds.map((moves) => {
    const lists: ProgramMove[][] = Array.from({ length: rankCount }, () => []);
    for (const move of moves) lists[move.source].push(move);
    return lists;
  });
  const shift = leastShift(rankCount, (rank, by) =>
    ofRank
      .map((lists) =>
        lists[rank]
          .map((move) => textOf(move, by, 0))
          .sort()
          .join(" "),
      )
      .join("\n"),
  );
  const title = `${collective} of ${rankCount} ranks in ${rounds.length} rounds, as a program of MSCCLang.`;
  yield `"""${[title, "", ...about.map(oneLine)].join("\n")}

With msccl-tools, this prints MSCCL XML:

    python FILE [instances [protocol]]
"""

import sys

from msccl.language import *
from msccl.language.collectives import ${python}
from msccl.topologies import fully_connected

NAME = ${pythonString(oneLine(program.name))}
RANKS = ${rankCount}
INPLACE = ${inPlace && !outOfPlace ? "True" : "False"}
# Chunks of ${whole ? "the data" : "a rank's block"}.
CHUNKS = ${factor}

# A line for each round: "0i2>1o5*3" copies 3 chunks of rank 0, from number 2 of its input on, to rank 1, from number 5 of its
# output on; "+" in the place of ">" adds them there. i: input, o: output, s and t: scratch.
`;
  if (shift < rankCount)
    yield `# ${shift === 1 ? "Rank 0 does this" : `Ranks 0 to ${shift - 1} do this`}; the others do the same, with ranks${block > 0 ? ` and their blocks in ${blocked.map((b) => BUFFER_LETTERS[b]).join(" and ")}` : ""} counted on.\n`;
  yield 'MOVES = """\n';
  const spares = new Map<number, number>();
  const spareFor = (move: ProgramMove): number => {
    if (!addsElsewhere(move)) return 0;
    // shifted, moves of one class of targets meet
    const spare = spares.get(move.target % shift) ?? 0;
    spares.set(move.target % shift, spare + move.chunks);
    return spare;
  };
  for (const lists of ofRank) {
    const texts = lists.slice(0, shift).flatMap((moves) => moves.map((move) => textOf(move, 0, spareFor(move))));
    yield `${texts.join(" ")}\n`;
  }
  yield `"""
SHIFTS = range(0, RANKS, ${shift})
`;
  yield reader(blocked.map((b) => BUFFER_LETTERS[b]).join(""), block, loopChunks);
  yield runner(python, protocol);
}

/**
 * Returns whether a message is added at another place than it comes from, which MSCCLang takes for the same one. With instances, places
 * of scratch are other ones on ranks that have more of it.
 */
const addsElsewhere = ({
  source,
  sourceBuffer,
  sourceIndex,
  target,
  targetBuffer,
  targetIndex,
  adds,
}: ProgramMove): boolean =>
  adds &&
  source !== target &&
  (sourceBuffer === SCRATCH || sourceBuffer !== targetBuffer || sourceIndex !== targetIndex);

const reader = (blocked: string, block: number, chunks: number): string => `
BUFFERS = {"i": Buffer.input, "o": Buffer.output, "s": "scratch", "t": "arrived"}


def place(text, shift):
    """Returns rank, buffer and first chunk of a place like 1o5, this many ranks further."""
    at = next(k for k, letter in enumerate(text) if letter in BUFFERS)
    rank, letter, index = int(text[:at]), text[at], int(text[at + 1 :])
    if letter in "${blocked}":
        index = (index + ${block} * shift) % ${chunks}
    return (rank + shift) % RANKS, BUFFERS[letter], index


def move(text, shift, single):
    """Says one move, chunk by chunk if \`single\`."""
    what, _, count = text.partition("*")
    adds = "+" in what
    source, target = what.split("+" if adds else ">")
    count = int(count or 1)
    size = 1 if single else count
    for k in range(0, count, size):
        rank, buffer, index = place(source, shift)
        data = chunk(rank, buffer, index + k, size)
        rank, buffer, index = place(target, shift)
        if adds:
            chunk(rank, buffer, index + k, size).reduce(data)
        else:
            data.copy(rank, buffer, index + k)
`;

const runner = (python: string, protocol: string): string => `

def main(instances=1, protocol="${protocol}"):
    """Prints the XML. With several instances chunks are cut, each for itself."""
    collective = ${python}(RANKS, CHUNKS, INPLACE)
    with MSCCLProgram(NAME, fully_connected(RANKS), collective, int(instances), protocol, instr_fusion=False):
        for line in MOVES.split("\\n"):
            for text in line.split():
                for shift in SHIFTS:
                    move(text, shift, int(instances) > 1)
        if not Check():
            sys.exit("the moves do not make the collective")
        XML()


if __name__ == "__main__":
    main(*sys.argv[1:])
`;
