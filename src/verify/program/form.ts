import { heldOperand } from "../../model/program/messages.ts";
import { blockCount, OPS, type Program, SCRATCH, WAIT_EVENT, WAIT_INSTRUCTION } from "../../model/program/program.ts";
import { hasParts } from "./memory.ts";
import { type Connection, chunkTotal, forPackets, packetTotal, type Wiring } from "./wiring.ts";
import { blockWords, chunkWords, type Findings, instructionWords } from "./words.ts";

/** Chunks that operands and messages move in all, at most: about ten seconds and 1 GiB. */
const MOST_CHUNKS = 2 ** 27;
const MOST_PACKETS = 2 ** 21;

/**
 * Records what is wrong with connections, waits, events and barriers whatever the course of time, and programs too large to be
 * judged. Returns whether the program can be executed. O(instructions + waits + posts).
 */
export function checkForm(program: Program, wiring: Wiring, found: Findings): boolean {
  const before = found.errorCount();
  if (!program.inPlace && !program.outOfPlace)
    found.error("placement", () => "the program is neither for calls in place nor for calls out of place");
  const total = chunkTotal(program);
  if (total > MOST_CHUNKS)
    found.error("too-large", () => `the program moves ${total} chunks; at most ${MOST_CHUNKS} can be judged`);
  const packets = packetTotal(program);
  if (packets > MOST_PACKETS)
    found.error(
      "too-large",
      () => `the program moves ${packets} chunks of packets; at most ${MOST_PACKETS} can be judged`,
    );
  if (hasParts(program.collective) && program.loopChunks % program.rankCount !== 0)
    found.error(
      "parts",
      () =>
        `${program.loopChunks} chunks cannot be shared equally by ${program.rankCount} gpus, as ${program.collective} wants`,
    );
  if (program.collective !== "custom" && program.rootRank >= program.rankCount)
    found.error("root", () => `the root is gpu ${program.rootRank}, of ${program.rankCount}`);
  for (const connection of wiring.connections) checkConnection(program, wiring, connection, found);
  for (let i = 0; i < program.op.length; i++) {
    if (program.chunks[i] < 0)
      found.error("count", () => `${instructionWords(program, wiring, i)} moves ${program.chunks[i]} chunks`, i);
    checkWaits(program, wiring, i, found);
  }
  checkFarEnds(program, wiring, found);
  checkEvents(program, wiring, found);
  checkBarriers(program, wiring, found);
  if (packets <= MOST_PACKETS) checkPackets(program, wiring, found);
  return found.errorCount() === before;
}

/**
 * Warns where a file says that a message comes from or goes to another place than the peer's step does, which misleads people but no
 * runtime. In calls in place input and output may be the same memory, so there only the index counts between these.
 */
function checkFarEnds(program: Program, wiring: Wiring, found: Findings): void {
  const { farEnds, operandOffset, sourceCount, operandBuffer, operandIndex, operandRank, inPlace } = program;
  if (farEnds === undefined) return;
  const { instruction, buffer, index } = farEnds;
  const wrong: [end: number, held: number][] = [];
  for (let e = 0; e < instruction.length; e++) {
    const i = instruction[e];
    const isSender = operandOffset[i] + sourceCount[i] === operandOffset[i + 1];
    const held = heldOperand(program, (isSender ? wiring.receiveOf : wiring.sendOf)[i]);
    if (held === undefined) continue;
    const isSameBuffer =
      operandBuffer[held] === buffer[e] || (inPlace && operandBuffer[held] !== SCRATCH && buffer[e] !== SCRATCH);
    if (operandIndex[held] !== index[e] || !isSameBuffer) wrong.push([e, held]);
  }
  if (wrong.length === 0) return;
  const [[e, held]] = wrong;
  const chunks = program.chunks[instruction[e]];
  const said = chunkWords(operandRank[held], buffer[e], index[e], chunks);
  const is = chunkWords(operandRank[held], operandBuffer[held], operandIndex[held], chunks);
  const more = wrong.length > 1 ? `, and so in ${wrong.length - 1} more steps` : "";
  found.warning(
    "far-end",
    () =>
      `${instructionWords(program, wiring, instruction[e])} names ${said} as the peer's side, where the peer's step has ${is}${more}; runtimes pass over it`,
    instruction[e],
  );
}

const connectionWords = ({ from, to, channel }: Connection): string => `gpu ${from} to gpu ${to} on channel ${channel}`;

function checkConnection(program: Program, wiring: Wiring, connection: Connection, found: Findings): void {
  const { from, to, senders, receivers, sends, receives } = connection;
  const place = connectionWords(connection);
  const isRank = (rank: number): boolean => rank >= 0 && rank < program.rankCount;
  if (!isRank(from) || !isRank(to) || from === to) {
    const first = sends[0] ?? receives[0];
    const peer = sends.length > 0 ? to : from;
    found.error("peer", () => `${instructionWords(program, wiring, first)} has no peer: gpu ${peer}`, first);
    return;
  }
  for (const [blocks, does] of [
    [senders, "send"],
    [receivers, "receive"],
  ] as const)
    if (blocks.length > 1) {
      const names = blocks.map((b) => blockWords(program, wiring, b)).slice(0, 4);
      found.error(
        "connection",
        () => `from ${place} ${blocks.length} thread blocks ${does}, where one may: ${names.join("; ")}`,
        program.instructionOffset[blocks[1]],
      );
    }
  if (senders.length > 1 || receivers.length > 1) return;
  for (let k = 0; k < Math.min(sends.length, receives.length); k++) {
    if (program.chunks[sends[k]] === program.chunks[receives[k]]) continue;
    found.error(
      "count",
      () =>
        `message ${k} from ${place} has ${program.chunks[sends[k]]} chunks when sent (${instructionWords(program, wiring, sends[k])}) and ${program.chunks[receives[k]]} when received (${instructionWords(program, wiring, receives[k])})`,
      receives[k],
    );
    return;
  }
  if (sends.length === receives.length) return;
  const first = sends.length > receives.length ? sends[receives.length] : receives[sends.length];
  found.error(
    "unmatched",
    () =>
      `from ${place} ${sends.length} messages are sent and ${receives.length} received; ${instructionWords(program, wiring, first)} has no counterpart`,
    first,
  );
}

function checkWaits(program: Program, wiring: Wiring, i: number, found: Findings): void {
  const rank = wiring.rankOf[wiring.blockOf[i]];
  for (let w = program.waitOffset[i]; w < program.waitOffset[i + 1]; w++) {
    const on = program.waitOn[w];
    if (program.waitKind[w] === WAIT_INSTRUCTION) {
      const words = (): string =>
        `${instructionWords(program, wiring, i)} waits for ${instructionWords(program, wiring, on)}`;
      if (wiring.rankOf[wiring.blockOf[on]] !== rank) found.error("wait", () => `${words()}, of another gpu`, i);
      else if (wiring.publisher[w] < 0)
        found.error("wait", () => `${words()}, but neither that step nor a later one of its block tells others`, i);
    } else if (program.waitKind[w] === WAIT_EVENT && program.eventRank[on] !== rank)
      found.error(
        "wait",
        () => `${instructionWords(program, wiring, i)} waits for a semaphore of gpu ${program.eventRank[on]}`,
        i,
      );
  }
}

/** What an event is left with would let a wait of the next call pass too soon, or none at all. */
function checkEvents(program: Program, wiring: Wiring, found: Findings): void {
  const waits = new Float64Array(program.eventRank.length);
  const last = new Int32Array(program.eventRank.length).fill(-1);
  for (let i = 0; i < program.op.length; i++)
    for (let w = program.waitOffset[i]; w < program.waitOffset[i + 1]; w++)
      if (program.waitKind[w] === WAIT_EVENT) {
        waits[program.waitOn[w]]++;
        last[program.waitOn[w]] = i;
      }
  for (let e = 0; e < waits.length; e++) {
    const posts = wiring.posters[e].length;
    if (posts === waits[e]) continue;
    const at = posts > waits[e] ? wiring.posters[e][posts - 1] : last[e];
    found.error(
      "unmatched",
      () =>
        `${eventWords(program, e)} is posted ${posts} times and waited for ${waits[e]} times; ${instructionWords(program, wiring, at)} is the last of them`,
      at,
    );
  }
}

/** Returns an event as people know it. */
export function eventWords(program: Program, e: number): string {
  const rank = program.eventRank[e];
  const peer = program.eventPeer[e];
  if (peer === rank) return `semaphore ${program.eventId[e]} of gpu ${rank}`;
  return `channel ${program.eventId[e]} from gpu ${peer} to gpu ${rank}`;
}

function checkBarriers(program: Program, wiring: Wiring, found: Findings): void {
  for (let b = 0; b < program.barrierRank.length; b++) {
    const blocks = wiring.comers[b];
    const name = `barrier ${program.barrierId[b]} of gpu ${program.barrierRank[b]}`;
    if (blocks.length !== program.barrierBlocks[b] && blocks.length > 0)
      found.error(
        "barrier",
        () => `${name} is for ${program.barrierBlocks[b]} thread blocks, but ${blocks.length} come to it`,
        program.instructionOffset[blocks[0]],
      );
    for (const block of blocks)
      if (wiring.rankOf[block] !== program.barrierRank[b])
        found.error(
          "barrier",
          () => `${blockWords(program, wiring, block)} comes to ${name}`,
          program.instructionOffset[block],
        );
  }
}

/** The flag of a packet is the same for a whole call: who waits for a second packet in one place gets the first. */
function checkPackets(program: Program, wiring: Wiring, found: Findings): void {
  const writer = new Map<string, number>();
  forPackets(program, "write", (i, o, k) => {
    const { operandRank, operandBuffer, operandIndex } = program;
    const key = `${operandRank[o]} ${operandBuffer[o]} ${operandIndex[o] + k}`;
    const other = writer.get(key);
    writer.set(key, i);
    if (other === undefined) return;
    found.error(
      "packets",
      () =>
        `${instructionWords(program, wiring, i)} writes packets to ${chunkWords(operandRank[o], operandBuffer[o], operandIndex[o] + k)}, as ${instructionWords(program, wiring, other)} does: a reader cannot tell them apart`,
      i,
    );
  });
}

/** Returns whether an instruction is a nop without data: of mscclpp, where the threads of a block meet. */
export const isNop = (program: Program, i: number): boolean => OPS[program.op[i]] === "nop";

/** Returns the most instructions in a block, and the most blocks of a rank. */
export function mostOf(program: Program): { readonly blocks: number; readonly steps: number } {
  let blocks = 0;
  let steps = 0;
  for (let r = 0; r < program.rankCount; r++)
    blocks = Math.max(blocks, program.blockOffset[r + 1] - program.blockOffset[r]);
  for (let b = 0; b < blockCount(program); b++) {
    const last = program.instructionOffset[b + 1] - 1;
    if (last >= program.instructionOffset[b]) steps = Math.max(steps, program.step[last] + 1);
  }
  return { blocks, steps };
}
