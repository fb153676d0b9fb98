import { messagesOf } from "../../model/program/messages.ts";
import { chunksPerBlock, placeOfChunk } from "../../model/program/mpi-places.ts";
import { MOST_LANES, MOST_PLAN_CHUNKS, type MpiPlan } from "../../model/program/mpi-plan.ts";
import {
  BUFFER_LETTERS,
  blockCount,
  blockOfInstructions,
  INPUT,
  instructionCount,
  OPS,
  type Program,
  rankOfBlocks,
  SCRATCH,
} from "../../model/program/program.ts";
import { RUNTIMES } from "../../model/program/runtimes.ts";
import type { ProgramViolation } from "../program/words.ts";
import { atInstruction, type LimitReport, limitReport, placeOfBlock, whereOfBlock } from "./report.ts";

/**
 * Returns what Banyan's runtime for MPI would refuse of a plan, or carry out otherwise than the program says:
 *
 * 1. blocks send to one peer, receive from one or have none, one for each end of a connection, with instructions of its kind;
 * 2. an instruction's chunks are of one block; in input and output they are in the one place that they have there, for chunks at
 *    the end are shorter than others, and nothing is written to the input;
 * 3. what is sent, added or copied is of the chunks that the instruction names, in the course in which it happens;
 * 4. it ends even where no send is over before its receive has begun, as MPI allows;
 * 5. instructions of the same chunks, which are carried out piece by piece, do not use the same scratch memory shifted.
 *
 * O(instructions x operands of a run).
 */
export function mpiLimitViolations(program: Program): readonly ProgramViolation[] {
  const report = limitReport();
  const { mpi } = program;
  if (mpi === undefined) {
    report.error(
      "machine",
      `${RUNTIMES.mpi.title} takes plans for MPI (\`banyan export ... --to mpi\`), and this is none`,
    );
    return report.violations;
  }
  const judging: Judging = {
    program,
    mpi,
    report,
    blockOf: blockOfInstructions(program),
    rankOf: rankOfBlocks(program),
  };
  checkHeader(judging);
  checkBlocks(judging);
  for (let i = 0; i < instructionCount(program); i++) checkPlaces(judging, i);
  if (report.violations.length > 0) return report.violations;
  const order = synchronousOrder(judging);
  if (order !== null) checkScratch(judging, order);
  checkShifts(judging);
  return report.violations;
}

interface Judging {
  readonly program: Program;
  readonly mpi: MpiPlan;
  readonly report: LimitReport;
  readonly blockOf: Int32Array;
  readonly rankOf: Int32Array;
}

const at = ({ program, blockOf, rankOf }: Judging, i: number) =>
  atInstruction(program, i, blockOf[i], rankOf[blockOf[i]]);

function checkHeader({ program, mpi, report }: Judging): void {
  const { segmentBytes, unequal, group, hosts } = mpi;
  if (program.channelCount > MOST_LANES)
    report.error("lanes", `the plan has ${program.channelCount} lanes; the runtime takes at most ${MOST_LANES}`);
  if (chunksPerBlock(program) > MOST_PLAN_CHUNKS)
    report.error(
      "chunks",
      `a block has ${chunksPerBlock(program)} chunks; the runtime takes at most ${MOST_PLAN_CHUNKS}`,
    );
  if (segmentBytes !== 0 && segmentBytes < 64)
    report.error(
      "segment",
      `messages are cut into ${segmentBytes} bytes; the runtime takes 64 or more, or 0 for never`,
    );
  if (unequal && program.collective !== "alltoall")
    report.error("unequal", `${program.collective} has no blocks of different sizes of its own`);
  if (group !== null && group.length !== program.rankCount)
    report.error("group", `the group has ${group.length} NPUs, the plan ${program.rankCount} ranks`);
  if (hosts !== null && hosts.length !== program.rankCount)
    report.error("hosts", `${hosts.length} NPUs have hosts, of ${program.rankCount} ranks`);
}

/** What blocks that send, that receive, and without peers are made of. */
const SENDING: readonly string[] = ["s"];
const RECEIVING: readonly string[] = ["r", "rrc"];
const LOCAL: readonly string[] = ["cpy", "re"];

function checkBlocks(judging: Judging): void {
  const { program, report, rankOf } = judging;
  const { sendPeer, recvPeer, channel, channelCount, instructionOffset } = program;
  const ends = new Map<string, number>();
  for (let b = 0; b < blockCount(program); b++) {
    const place = placeOfBlock(program, b, rankOf[b]);
    const where = whereOfBlock(program, b, rankOf[b]);
    const isSending = sendPeer[b] >= 0;
    const isReceiving = recvPeer[b] >= 0;
    if (isSending && isReceiving)
      report.error(
        "direction",
        `${place} sends to ${sendPeer[b]} and receives from ${recvPeer[b]}; a block does one`,
        where,
      );
    if (channel[b] < 0 || channel[b] >= channelCount)
      report.error("lane", `${place} is on lane ${channel[b]}; the plan has ${channelCount}`, where);
    if (isSending || isReceiving) {
      const key = `${rankOf[b]} ${isSending ? `to ${sendPeer[b]}` : `from ${recvPeer[b]}`}, lane ${channel[b]}`;
      const other = ends.get(key);
      ends.set(key, b);
      if (other !== undefined)
        report.error(
          "connection",
          `${place} is another block ${isSending ? "to" : "from"} the same peer on the same lane`,
          where,
        );
    }
    const kinds = isSending ? SENDING : isReceiving ? RECEIVING : LOCAL;
    for (let i = instructionOffset[b]; i < instructionOffset[b + 1]; i++) {
      if (kinds.includes(OPS[program.op[i]])) continue;
      const { place: here, where: there } = at(judging, i);
      report.error("instruction", `${here}: ${OPS[program.op[i]]} in a block of ${kinds.join(", ")}`, there);
    }
  }
}

/** Chunks of one block, in input and output in their place, and nothing written to the input. */
function checkPlaces(judging: Judging, i: number): void {
  const { program, mpi, report } = judging;
  const { chunks, operandOffset, operandBuffer, operandIndex, operandRank, sourceCount } = program;
  const perBlock = chunksPerBlock(program);
  const first = mpi.chunk[i];
  const say = (kind: string, what: string): void => {
    const { place, where } = at(judging, i);
    report.error(kind, `${place}: ${what}`, where);
  };
  if (Math.floor(first / perBlock) !== Math.floor((first + chunks[i] - 1) / perBlock) || chunks[i] < 1)
    say("block", `chunks ${first} to ${first + chunks[i] - 1} are not of one block`);
  for (let o = operandOffset[i]; o < operandOffset[i + 1]; o++) {
    const buffer = operandBuffer[o];
    if (buffer === INPUT && o >= operandOffset[i] + sourceCount[i]) say("input", "it writes to the input");
    if (buffer === SCRATCH) continue;
    const due = placeOfChunk(program, operandRank[o], buffer, first);
    if (due === operandIndex[o]) continue;
    const has = due < 0 ? "is not in that buffer" : `has place ${due} there`;
    say("place", `${BUFFER_LETTERS[buffer]} ${operandIndex[o]} for chunk ${first}, which ${has}`);
  }
}

/**
 * Returns the instructions in an order in which they can happen if a send is over when its receive has begun, and not before; null, and
 * an error, where there is none. A message is sent and received at once, when all that its two ends wait for is over.
 * O(instructions + waits).
 */
function synchronousOrder(judging: Judging): Int32Array | null {
  const { program, report, blockOf } = judging;
  const { instructionOffset, waitOffset, waitOn } = program;
  const count = instructionCount(program);
  const { receiveOf, sendOf } = messagesOf(program);
  /** A send stands for its message. */
  const nodeOf = (i: number): number => (sendOf[i] >= 0 ? sendOf[i] : i);
  const missing = new Int32Array(count);
  const next: number[][] = Array.from({ length: count }, () => []);
  const orders = (before: number, after: number): void => {
    missing[nodeOf(after)]++;
    next[nodeOf(before)].push(nodeOf(after));
  };
  for (let i = 0; i < count; i++) {
    if (i > instructionOffset[blockOf[i]]) orders(i - 1, i);
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) orders(waitOn[w], i);
  }
  const order: number[] = [];
  const ready: number[] = [];
  for (let i = 0; i < count; i++) if (nodeOf(i) === i && missing[i] === 0) ready.push(i);
  for (let k = 0; k < ready.length; k++) {
    const node = ready[k] as number;
    order.push(node);
    if (receiveOf[node] >= 0) order.push(receiveOf[node]);
    for (const after of next[node]) if (--missing[after] === 0) ready.push(after);
  }
  if (order.length === count) return Int32Array.from(order);
  const stuck = Array.from(missing).findIndex((many) => many > 0);
  const { place, where } = at(judging, stuck);
  report.error(
    "synchronous",
    `${place} waits for ever where MPI ends no send before its receive has begun, as it may: one message waits for another in a circle`,
    where,
  );
  return null;
}

/** What is read of scratch memory must be what its instruction names. O(instructions' chunks). */
function checkScratch(judging: Judging, order: Int32Array): void {
  const { program, mpi, report } = judging;
  const { chunks, operandOffset, operandBuffer, operandIndex, operandRank, sourceCount, scratchChunks } = program;
  const holds = Array.from(scratchChunks, (size) => new Int32Array(size).fill(-1));
  for (const i of order) {
    const middle = operandOffset[i] + sourceCount[i];
    for (let o = operandOffset[i]; o < operandOffset[i + 1]; o++) {
      if (operandBuffer[o] !== SCRATCH) continue;
      const own = holds[operandRank[o]];
      for (let k = 0; k < chunks[i]; k++) {
        const cell = operandIndex[o] + k;
        const is = mpi.chunk[i] + k;
        if (o >= middle) own[cell] = is;
        else if (own[cell] !== is) {
          const { place, where } = at(judging, i);
          const found = own[cell] < 0 || own[cell] === undefined ? "nothing" : `chunk ${own[cell]}`;
          report.error("chunk", `${place}: it takes s ${cell} for chunk ${is}, but ${found} is there`, where);
          break;
        }
      }
    }
  }
}

/** Pieces of instructions of the same chunks wait for each other one by one, so they must lie alike in memory. */
function checkShifts(judging: Judging): void {
  const { program, mpi, report, blockOf, rankOf } = judging;
  const { chunks, operandOffset, operandBuffer, operandIndex } = program;
  const runs = new Map<string, Map<number, number>>();
  for (let i = 0; i < instructionCount(program); i++) {
    if (chunks[i] < 2) continue;
    for (let o = operandOffset[i]; o < operandOffset[i + 1]; o++) {
      if (operandBuffer[o] !== SCRATCH) continue;
      const key = `${rankOf[blockOf[i]]} ${mpi.chunk[i]} ${chunks[i]}`;
      const places = runs.get(key) ?? new Map<number, number>();
      runs.set(key, places);
      const index = operandIndex[o];
      for (const other of places.keys()) {
        if (other === index || Math.abs(other - index) >= chunks[i]) continue;
        const { place, where } = at(judging, i);
        report.error(
          "shifted",
          `${place}: it has its chunks at s ${index}, and another instruction of them at s ${other}, which overlap`,
          where,
        );
        break;
      }
      places.set(index, i);
    }
  }
}
