import {
  BUFFER_LETTERS,
  OPS,
  type Op,
  type Program,
  rankOfBlocks,
  SCRATCH,
  VIA,
  WAIT_EVENT,
} from "../../model/program/program.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import type { ProgramViolation } from "../program/words.ts";
import { atInstruction, type LimitReport, limitReport, placeOfBlock, whereOfBlock } from "./report.ts";

/** How many output chunks a rank has, and how many input chunks, in units of one rank's part. Others may have any. */
const PARTS: Readonly<Partial<Record<Program["collective"], (ranks: number) => readonly [number, number]>>> = {
  allgather: (ranks) => [1, ranks],
  reducescatter: (ranks) => [ranks, 1],
  allreduce: () => [1, 1],
  alltoall: () => [1, 1],
  broadcast: () => [1, 1],
  reduce: () => [1, 1],
};

/**
 * Returns what keeps the executor of MSCCL++ (microsoft/mscclpp, src/core/executor and execution_kernel.hpp) from running a
 * program as a plan, or from running it right. What a program computes is judged by verifyProgram. O(size of the program).
 */
export function planLimitViolations(program: Program): readonly ProgramViolation[] {
  const report = limitReport();
  if (program.machine !== "mscclpp") {
    report.error("machine", "the program is for thread blocks with FIFOs (MSCCL), which MSCCL++ does not have");
    return report.violations;
  }
  if (program.collective === "custom")
    report.warning("collective", "no NCCL call selects a plan of a collective of its own: a caller must name the plan");
  checkChunks(program, report);
  checkSizes(program, report);
  checkBlocks(program, report);
  checkPackets(program, report);
  checkReceipts(program, report);
  return report.violations;
}

/** The executor divides by both counts of chunks, and wants equal bytes per chunk (checkMessageSize, getSizeAndChunks). */
function checkChunks(program: Program, report: LimitReport): void {
  const { inputChunks, outputChunks, rankCount, collective, finer } = program;
  const parts = PARTS[collective]?.(rankCount);
  for (let rank = 0; rank < rankCount; rank++) {
    const input = inputChunks[rank] / finer;
    const output = outputChunks[rank] / finer;
    if (input === 0 || output === 0) {
      report.error(
        "chunks",
        `gpu ${rank} has no ${input === 0 ? "input" : "output"} chunks, by which MSCCL++ divides`,
        { rank },
      );
    } else if (parts !== undefined && input * parts[1] !== output * parts[0]) {
      const wanted = parts[0] === parts[1] ? "as many" : `${parts[1]} to ${parts[0]}`;
      const message = `gpu ${rank} has ${output} output chunks to ${input} input chunks, where ${collective} needs ${wanted}`;
      report.error("chunks", message, { rank });
    } else if (inputChunks[rank] !== inputChunks[0] && parts !== undefined) {
      const message = `gpu ${rank} cuts its input into ${input} chunks, but gpu 0 into ${inputChunks[0] / finer}`;
      report.error("chunks", message, { rank });
    }
  }
}

/** Sizes are multiples of chunks times the alignment, and no offset is beyond 32 bits. */
function checkSizes({ minBytes, maxBytes, loopChunks, finer }: Program, report: LimitReport): void {
  const { alignmentBytes, reachBytes } = MSCCLPP_RUNTIME;
  const chunks = loopChunks / finer;
  const step = chunks * alignmentBytes;
  const least = Math.max(minBytes ?? 0, step);
  const most = Math.min(maxBytes ?? reachBytes, reachBytes);
  if (Math.floor(most / step) * step >= least) {
    if (maxBytes === null || maxBytes <= reachBytes) return;
    const message =
      "it is offered for calls of more than 4 GiB, where 32-bit offsets begin again at 0: max_message_size";
    report.warning("sizes", message);
    return;
  }
  const range = `${minBytes ?? 0} to ${maxBytes ?? "any"} bytes`;
  const message = `no size of ${range} within 4 GiB is a multiple of ${step}, ${alignmentBytes} for each of ${chunks} chunks`;
  report.error("sizes", message);
}

/** Chunks of scratch from .. to - 1 of a rank that an instruction uses. */
interface ScratchUse {
  readonly from: number;
  readonly to: number;
  readonly instruction: number;
  readonly block: number;
}

/**
 * Reports packets that the executor would put elsewhere: they are found in scratch only, at twice the offset and twice as long, and
 * must not lie over plain data; and scratch is large enough only where the protocol is LL. A `ppkt` over a port reads scratch as
 * packets (handlePutPackets). O(operands log operands).
 */
function checkPackets(program: Program, report: LimitReport): void {
  const { instructionOffset, operandOffset, operandBuffer, operandPacket, operandRank, operandIndex } = program;
  const rankOf = rankOfBlocks(program);
  const plain = new Map<number, ScratchUse[]>();
  const packets = new Map<number, ScratchUse[]>();
  for (let block = 0; block < rankOf.length; block++) {
    for (let i = instructionOffset[block]; i < instructionOffset[block + 1]; i++) {
      const raw = OPS[program.op[i]] === "ppkt" && VIA[program.via[i]] === "port";
      for (let k = operandOffset[i]; k < operandOffset[i + 1]; k++) {
        const packet = operandPacket[k] === 1 || (raw && k < operandOffset[i] + program.sourceCount[i]);
        if (packet && operandBuffer[k] !== SCRATCH) {
          const { place, where } = atInstruction(program, i, block, rankOf[block]);
          report.error("packets", `${place}: packets are in scratch only, not in another buffer`, where);
        }
        if (operandBuffer[k] !== SCRATCH) continue;
        const [uses, size] = packet ? [packets, 2] : [plain, 1];
        const [from, to] = [operandIndex[k] * size, (operandIndex[k] + program.chunks[i]) * size];
        const known = uses.get(operandRank[k]);
        const use = { from, to, instruction: i, block };
        if (known === undefined) uses.set(operandRank[k], [use]);
        else known.push(use);
      }
    }
  }
  const [first] = packets.values();
  if (first !== undefined && program.protocol === "Simple") {
    const { place, where } = atInstruction(program, first[0].instruction, first[0].block, rankOf[first[0].block]);
    report.error("packets", `${place}: packets need protocol LL, for which scratch is twice as large`, where);
  }
  if (first !== undefined) checkHalves(program, packets, rankOf, report);
  for (const [rank, uses] of plain) {
    const overlaid = firstOver(uses, packets.get(rank) ?? []);
    if (overlaid === null) continue;
    const { instruction, block } = overlaid;
    const { place, where } = atInstruction(program, instruction, block, rankOf[block]);
    const message = `${place}: plain data in scratch of gpu ${rank}, whose packets begin at twice their offset and overlap it`;
    report.error("packets", message, where);
  }
}

/** A sender takes the half of its own scratch that is in turn for that of its peer, so both must begin at the same place. */
function checkHalves(
  { scratchChunks, finer }: Program,
  packets: ReadonlyMap<number, readonly ScratchUse[]>,
  rankOf: Int32Array,
  report: LimitReport,
): void {
  for (const [rank, uses] of packets) {
    const other = uses.find(({ block }) => scratchChunks[rankOf[block]] !== scratchChunks[rank]);
    if (other === undefined) continue;
    const sender = rankOf[other.block];
    const message = `gpu ${rank} has ${scratchChunks[rank] / finer} scratch chunks, but gpu ${sender}, which sends it packets, ${scratchChunks[sender] / finer}: every second call they would land elsewhere`;
    report.error("packets", message, { rank });
    return;
  }
}

/** Returns the first of some uses that shares chunks with one of the others; null: none does. */
function firstOver(uses: readonly ScratchUse[], others: readonly ScratchUse[]): ScratchUse | null {
  const sorted = [...others].sort((a, b) => a.from - b.from);
  /** Greatest end of these and all before them. */
  const ends = sorted.map(({ to }) => to);
  for (let k = 1; k < ends.length; k++) ends[k] = Math.max(ends[k], ends[k - 1]);
  return (
    uses.find(({ from, to }) => {
      let [low, high] = [0, sorted.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (sorted[middle].from < to) low = middle + 1;
        else high = middle;
      }
      return low > 0 && ends[low - 1] > from;
    }) ?? null
  );
}

/**
 * Reports puts through ports after which a block neither hears from the peer nor waits until its data has left: the proxy may read
 * what they send when the call is over, and its buffers belong to others. The executor's `flush` waits for nothing (handleFlush).
 * Blocks that meet others of their rank are not looked at: these may hear for them. O(instructions).
 */
function checkReceipts(program: Program, report: LimitReport): void {
  const { instructionOffset, operandOffset, operandRank, sourceCount, op, via } = program;
  const { waitOffset, waitKind, waitOn, eventPeer } = program;
  const rankOf = rankOfBlocks(program);
  for (let block = 0; block < rankOf.length; block++) {
    /** Ranks from which the block hears later, or that have what was put before. */
    const over = new Set<number>();
    for (let i = instructionOffset[block + 1] - 1; i >= instructionOffset[block]; i--) {
      for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++)
        if (waitKind[w] === WAIT_EVENT) over.add(eventPeer[waitOn[w]]);
      const name = OPS[op[i]];
      if (name === "barrier" || name === "sem_acquire") break;
      if (VIA[via[i]] !== "port" || (name !== "put" && name !== "pws" && name !== "pwsf")) continue;
      const to = operandRank[operandOffset[i] + sourceCount[i]];
      if (name === "pwsf") over.add(to);
      if (over.has(to)) continue;
      over.add(to);
      const { place, where } = atInstruction(program, i, block, rankOf[block]);
      const message = `${place}: nothing waits until gpu ${to} has what is put: it may be overwritten once the call is over`;
      report.warning("receipt", message, where);
    }
  }
}

/** Reports thread blocks, operations, channels, buffers, barriers and semaphores that are too many. O(operands). */
function checkBlocks(program: Program, report: LimitReport): void {
  const { blocksPerGpu } = MSCCLPP_RUNTIME;
  const { blockOffset, rankCount } = program;
  for (let rank = 0; rank < rankCount; rank++) {
    const blocks = blockOffset[rank + 1] - blockOffset[rank];
    if (blocks > blocksPerGpu) {
      const message = `gpu ${rank} has ${blocks} thread blocks, ${blocksPerGpu} at most can wait for each other`;
      report.error("thread blocks", message, { rank });
    }
    for (let block = blockOffset[rank]; block < blockOffset[rank + 1]; block++)
      checkBlock(program, rank, block, report);
  }
  checkNumbers(program, report);
}

function checkBlock(program: Program, rank: number, block: number, report: LimitReport): void {
  const { instructionOffset, step, op } = program;
  const { ops, opsPerBlock, channelsPerBlock } = MSCCLPP_RUNTIME;
  const place = placeOfBlock(program, block, rank);
  const where = whereOfBlock(program, block, rank);
  let steps = 0;
  const end = instructionOffset[block + 1];
  for (let i = instructionOffset[block], next = i; i < end; i = next) {
    while (next < end && step[next] === step[i] && op[next] === op[i]) next++;
    const name: Op = OPS[op[i]];
    if (!ops.has(name)) {
      const at = atInstruction(program, i, block, rank);
      report.error("operation", `${at.place}: the executor of MSCCL++ has no operation ${name}`, at.where);
    }
    for (let k = i; k < next; k = isPaired(name) ? next : k + 1)
      checkOperation(program, rank, block, k, isPaired(name) ? next : k + 1, report);
    steps = Math.max(steps, step[i] + 1);
  }
  if (steps > opsPerBlock)
    report.error("operations", `${place} has ${steps} operations, ${opsPerBlock} are the most`, where);
  for (const [what, count] of namedByBlock(program, rank, block)) {
    if (count <= channelsPerBlock) continue;
    report.error(what, `${place} uses ${count} ${what}, ${channelsPerBlock} are the most`, where);
  }
}

/** Notes that a thread block needs an entry of a table. */
type Naming = (table: string, entry: string | number) => void;

const REMOTE_BUFFERS = { memory: "remote buffers by memory", port: "remote buffers by port" } as const;
const CHANNELS = { memory: "memory channels", port: "port channels", switch: "switch channels" } as const;

/** Yields how many entries of each of the tables of a thread block it needs. */
function* namedByBlock(program: Program, rank: number, block: number): Iterable<[string, number]> {
  const { instructionOffset, operandOffset, operandRank, operandBuffer, sourceCount, via } = program;
  const named = new Map<string, Set<string | number>>();
  const name: Naming = (table, entry) => {
    const entries = named.get(table);
    if (entries === undefined) named.set(table, new Set([entry]));
    else entries.add(entry);
  };
  const from = instructionOffset[block];
  const to = instructionOffset[block + 1];
  nameChannels(program, rank, from, to, name);
  for (let i = from; i < to; i++) {
    const by = VIA[via[i]];
    const [first, end] = [operandOffset[i], operandOffset[i + 1]];
    const middle = first + sourceCount[i];
    if (by === "switch") {
      for (const [a, b] of [
        [first, middle],
        [middle, end],
      ] as const)
        if (b - a > 1 || OPS[program.op[i]] === "glres")
          name(CHANNELS.switch, `${operandBuffer[a]} ${operandRank.subarray(a, b).join()}`);
    } else if (by !== "local") {
      for (let k = first; k < end; k++)
        if (operandRank[k] !== rank)
          name(REMOTE_BUFFERS[by], operandRank[k] * BUFFER_LETTERS.length + operandBuffer[k]);
    }
  }
  for (const [table, entries] of named) yield [table, entries.size];
}

function nameChannels(
  { waitOffset, waitOn, waitKind, postOffset, postOn, eventRank, eventPeer, eventId, eventVia, rankCount }: Program,
  rank: number,
  from: number,
  to: number,
  name: Naming,
): void {
  const add = (event: number): void => {
    const by = VIA[eventVia[event]];
    if (by === "local") return;
    const peer = eventRank[event] === rank ? eventPeer[event] : eventRank[event];
    name(CHANNELS[by], eventId[event] * rankCount + peer);
  };
  for (let w = waitOffset[from]; w < waitOffset[to]; w++) if (waitKind[w] === WAIT_EVENT) add(waitOn[w]);
  for (let p = postOffset[from]; p < postOffset[to]; p++) add(postOn[p]);
}

/** Barriers are a table of the executor; semaphores are allocated today, but 16 is what its headers promise. */
function checkNumbers(program: Program, report: LimitReport): void {
  const { barriersPerGpu, semaphoresPerGpu } = MSCCLPP_RUNTIME;
  const { barrierId, barrierRank, eventId, eventRank, eventVia } = program;
  barrierId.forEach((id, barrier) => {
    const rank = barrierRank[barrier];
    if (id < barriersPerGpu) return;
    report.error("barriers", `gpu ${rank} has a barrier ${id}, ${barriersPerGpu - 1} is the last`, { rank });
  });
  eventId.forEach((id, event) => {
    const rank = eventRank[event];
    if (id < semaphoresPerGpu || VIA[eventVia[event]] !== "local") return;
    report.warning("semaphores", `gpu ${rank} has a semaphore ${id}, MSCCL++ promises ${semaphoresPerGpu}`, { rank });
  });
}

const PAIRED: ReadonlySet<Op> = new Set<Op>(["put", "pws", "pwsf", "get", "ppkt"]);

/** Returns whether several instructions of one step are the parallel operands of one operation. */
const isPaired = (op: Op): boolean => PAIRED.has(op);

/**
 * Reports what the executor does not do of an operation, whose instructions are from .. to - 1: too many operands or channels,
 * and what it does wrongly. Iterations of a pipeline that is nothing but one put count as one operation. O(operands).
 */
function checkOperation(
  program: Program,
  rank: number,
  block: number,
  from: number,
  to: number,
  report: LimitReport,
): void {
  const { channelsPerOp, operandsPerSide } = MSCCLPP_RUNTIME;
  const { waitOffset, postOffset } = program;
  const name = OPS[program.op[from]];
  const by = VIA[program.via[from]];
  const { place, where } = atInstruction(program, from, block, rank);
  const [sources, destinations] = operandCounts(program, from, to);
  const most = by === "port" ? channelsPerOp : operandsPerSide;
  for (const [side, count] of [
    ["sources", sources],
    ["destinations", destinations],
  ] as const) {
    if (count > most) report.error("operands", `${place}: ${name} has ${count} ${side}, ${most} are the most`, where);
  }
  const events = waitOffset[to] - waitOffset[from] + postOffset[to] - postOffset[from];
  if (isOnChannels(name) && events > channelsPerOp)
    report.error(
      "channels of an operation",
      `${place}: ${name} has ${events} channels, ${channelsPerOp} are the most`,
      where,
    );
  if (isOnSemaphores(name) && events > MSCCLPP_RUNTIME.semaphoresPerGpu) {
    const message = `${place}: ${name} has ${events} semaphores, ${MSCCLPP_RUNTIME.semaphoresPerGpu} are the most`;
    report.error("semaphores of an operation", message, where);
  }
  if (name === "pwsf") {
    const message = `${place}: pwsf reads from a wrong offset in MSCCL++ up to 0.9, whose executor passes an address in its place; pws does not`;
    report.warning("pwsf", message, where);
  }
  if (name === "get") checkGet(program, from, to, place, where, report);
  if ((name === "put" || name === "ppkt") && by === "memory") checkPut(program, from, to, place, where, report);
}

const isOnChannels = (op: Op): boolean => op === "signal" || op === "wait" || op === "rlxsignal" || op === "rlxwait";
const isOnSemaphores = (op: Op): boolean => op === "sem_acquire" || op === "sem_release";

/** Returns the sources and destinations of an operation; all ranks behind a switch are one. */
function operandCounts(program: Program, from: number, to: number): [number, number] {
  const { operandOffset, sourceCount, via } = program;
  let sources = 0;
  for (let i = from; i < to; i++) sources += sourceCount[i];
  const all = operandOffset[to] - operandOffset[from];
  return VIA[via[from]] === "switch" ? [Math.min(sources, 1), Math.min(all - sources, 1)] : [sources, all - sources];
}

type Where = Parameters<LimitReport["error"]>[2];

/** handleGet adds the offset of the destination to the address of the source, and the other way round. */
function checkGet(program: Program, from: number, to: number, place: string, where: Where, report: LimitReport): void {
  const { operandOffset, operandIndex } = program;
  for (let i = from; i < to; i++) {
    const first = operandOffset[i];
    if (operandOffset[i + 1] - first < 2 || operandIndex[first] === operandIndex[first + 1]) continue;
    const chunks = `chunk ${operandIndex[first]} to chunk ${operandIndex[first + 1]}`;
    const message = `${place}: get from ${chunks}, but the executor swaps the two offsets`;
    report.error("get", message, where);
    return;
  }
}

/** handlePut and handlePutPackets take all sources from the buffer of the first. */
function checkPut(program: Program, from: number, to: number, place: string, where: Where, report: LimitReport): void {
  const { operandOffset, operandBuffer } = program;
  for (let i = from + 1; i < to; i++) {
    if (operandBuffer[operandOffset[i]] === operandBuffer[operandOffset[from]]) continue;
    report.error(
      "put",
      `${place}: sources of different buffers, but the executor takes all from that of the first`,
      where,
    );
    return;
  }
}
