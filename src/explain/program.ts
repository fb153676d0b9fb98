import { addTo } from "../model/numbers/ordering.ts";
import { blockCount, instructionCount, OPS, type Program, rankOfBlocks } from "../model/program/program.ts";
import { ringOf, ringText } from "./links.ts";

/** Connections named one by one. */
const SHOWN = 8;

const count = (number: number | string, one: string): string => `${number} ${one}${`${number}` === "1" ? "" : "s"}`;

/** Returns what a program does, in words, a line each. O(instructions). */
export function explainProgram(program: Program): string[] {
  const { rankCount, collective, loopChunks, inputChunks, outputChunks, scratchChunks } = program;
  const most = (column: Int32Array): number => column.reduce((a, b) => Math.max(a, b), 0);
  const placement = program.inPlace ? (program.outOfPlace ? "in place or out of place" : "in place") : "out of place";
  const lines = [
    `${collective} of ${rankCount} GPUs, ${placement}, protocol ${program.protocol}${program.name === "" ? "" : `, named "${program.name}"`}`,
    `data: the buffer is cut in ${count(loopChunks, "chunk")}; a GPU has ${count(most(inputChunks), "chunk")} of input, ${most(outputChunks)} of output and ${most(scratchChunks) === 0 ? "no scratch" : `at most ${most(scratchChunks)} of scratch`}`,
    `work: ${count(instructionCount(program), "instruction")} in ${count(blockCount(program), "thread block")}; ${blocksText(program)}`,
    `instructions: ${opsText(program)}`,
  ];
  return [...lines, ...(program.machine === "msccl" ? channelLines(program) : eventLines(program))];
}

function blocksText({ blockOffset, rankCount, instructionOffset, blockId, step }: Program): string {
  let [blocks, steps] = [0, 0];
  for (let r = 0; r < rankCount; r++) blocks = Math.max(blocks, blockOffset[r + 1] - blockOffset[r]);
  for (let b = 0; b < blockId.length; b++) {
    const last = instructionOffset[b + 1] - 1;
    if (last >= instructionOffset[b]) steps = Math.max(steps, step[last] + 1);
  }
  return `at most ${count(blocks, "block")} on a GPU and ${count(steps, "step")} in a block`;
}

function opsText({ op }: Program): string {
  const counts = new Int32Array(OPS.length);
  for (const code of op) counts[code]++;
  const used = [...counts.keys()].filter((code) => counts[code] > 0);
  used.sort((a, b) => counts[b] - counts[a] || a - b);
  return used.map((code) => `${counts[code]} ${OPS[code]}`).join(", ");
}

/** What each channel connects: a ring, or how many pairs with how many messages. */
function channelLines(program: Program): string[] {
  const { rankCount, channel, sendPeer, instructionOffset, sends } = program;
  const rank = rankOfBlocks(program);
  const perChannel = new Map<number, Map<number, number>>();
  for (let b = 0; b < blockCount(program); b++) {
    if (sendPeer[b] < 0) continue;
    let messages = 0;
    for (let i = instructionOffset[b]; i < instructionOffset[b + 1]; i++)
      messages += sends[i] === 0 ? 0 : program.chunks[i];
    const pairs = perChannel.get(channel[b]) ?? new Map<number, number>();
    const pair = rank[b] * rankCount + sendPeer[b];
    pairs.set(pair, (pairs.get(pair) ?? 0) + messages);
    perChannel.set(channel[b], pairs);
  }
  const texts = new Map<string, number[]>();
  for (const [number, pairs] of [...perChannel].sort(([a], [b]) => a - b)) {
    const text = pairsText(pairs, rankCount);
    addTo(texts, text, number);
  }
  const lines = [...texts]
    .slice(0, SHOWN)
    .map(([text, channels]) => `channel${channels.length === 1 ? "" : "s"} ${channels.join(", ")}: ${text}`);
  if (texts.size > SHOWN) lines.push(`... and ${texts.size - SHOWN} more patterns of channels`);
  return lines;
}

function pairsText(pairs: ReadonlyMap<number, number>, rankCount: number): string {
  const successor = new Int32Array(rankCount).fill(-1);
  const degree = new Int32Array(rankCount);
  for (const pair of pairs.keys()) {
    const from = Math.floor(pair / rankCount);
    degree[from]++;
    successor[from] = degree[from] === 1 ? pair % rankCount : -1;
  }
  const chunks = [...pairs.values()];
  const each = new Set(chunks).size === 1 ? `${chunks[0]}` : `${Math.min(...chunks)} to ${Math.max(...chunks)}`;
  const ring = ringOf(successor);
  if (ring !== null) return `a ring, ${ringText(ring, String)}, ${count(each, "chunk")} over each connection`;
  const shown = [...pairs.keys()]
    .slice(0, SHOWN)
    .map((pair) => `${Math.floor(pair / rankCount)} → ${pair % rankCount}`);
  const rest = pairs.size > SHOWN ? `, ... (${pairs.size} connections)` : "";
  return `${shown.join(", ")}${rest}, ${count(each, "chunk")} over each`;
}

/** Who tells whom that data is there. */
function eventLines({ eventPeer, eventRank, rankCount }: Program): string[] {
  const pairs = new Set<number>();
  for (let e = 0; e < eventRank.length; e++)
    if (eventRank[e] !== eventPeer[e]) pairs.add(eventPeer[e] * rankCount + eventRank[e]);
  return [`signals: between ${pairs.size} of the ${rankCount * (rankCount - 1)} ordered pairs of GPUs`];
}
