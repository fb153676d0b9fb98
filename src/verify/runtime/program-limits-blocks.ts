import type { Program } from "../../model/program/program.ts";
import type { MscclRuntime } from "../../model/program/runtimes.ts";
import type { BlockView } from "./program-limits-instructions.ts";
import { type LimitReport, placeOfBlock, whereOfBlock } from "./program-limits-report.ts";

/** Reports a block with more steps than the runtime takes, or numbered otherwise than the executor counts, and its channel. */
export function reportBlock({ program, runtime, block, rank, steps, report }: BlockView): void {
  const { title } = runtime;
  const place = placeOfBlock(program, block, rank);
  const where = whereOfBlock(program, block, rank);
  const count = steps.perBlock[block];
  const most = Math.max(count, lastNumber(program, block) + 1);
  if (most > runtime.stepsPerBlock) {
    report.error("steps", `${place} has ${most} steps, but ${title} takes at most ${runtime.stepsPerBlock}`, where);
  }
  if (program.channel[block] >= program.channelCount) {
    const channels = `nchannels is ${program.channelCount}`;
    report.error("channel", `${place} is on channel ${program.channel[block]}, but ${channels}`, where);
  }
  if (program.blockLine[block] > 0) reportNumbers({ program, runtime, block, rank, steps, report });
}

/** Returns the greatest number of a step in the file, -1 where there is no file. */
function lastNumber(program: Program, block: number): number {
  let last = -1;
  if (program.blockLine[block] === 0) return last;
  for (let i = program.instructionOffset[block]; i < program.instructionOffset[block + 1]; i++) {
    last = Math.max(last, program.step[i]);
  }
  return last;
}

/** Where a file numbers its steps otherwise than the executor counts, those that wait for one wait for another. */
function reportNumbers({ program, runtime, block, rank, steps, report }: BlockView): void {
  const { title } = runtime;
  const place = placeOfBlock(program, block, rank);
  const where = whereOfBlock(program, block, rank);
  let last = -1;
  let odd = -1;
  let ascending = true;
  for (let i = program.instructionOffset[block]; i < program.instructionOffset[block + 1]; i++) {
    ascending &&= program.step[i] > last;
    last = program.step[i];
    if (odd < 0 && steps.number[i] >= 0 && last !== steps.number[i]) odd = i;
  }
  if (!ascending) {
    report.error(
      "step-order",
      `${place} does not list its steps in ascending order, but ${title} runs them as listed`,
      where,
    );
  }
  if (odd < 0) return;
  const text = `${place} calls a step ${program.step[odd]} that ${title} counts as ${steps.number[odd]}`;
  if (steps.awaited[block] === 1) report.error("step-number", `${text}, so others wait for another step`, where);
  else report.warning("step-number", text, where);
}

/** A connection is a FIFO: one thread block of a gpu sends into it, one receives. Runtimes count thread blocks per channel. O(instructions). */
export function reportConnections(program: Program, runtime: MscclRuntime, rank: number, report: LimitReport): void {
  reportSide(program, runtime, rank, report, "send");
  reportSide(program, runtime, rank, report, "recv");
}

function reportSide(
  program: Program,
  runtime: MscclRuntime,
  rank: number,
  report: LimitReport,
  side: "send" | "recv",
): void {
  const peers = side === "send" ? program.sendPeer : program.recvPeer;
  const uses = side === "send" ? program.sends : program.receives;
  const perChannel = new Map<number, number>();
  const owner = new Map<number, number>();
  for (let b = program.blockOffset[rank]; b < program.blockOffset[rank + 1]; b++) {
    const peer = peers[b];
    if (peer < 0) continue;
    const channel = program.channel[b];
    const count = (perChannel.get(channel) ?? 0) + 1;
    perChannel.set(channel, count);
    if (count === runtime.peersPerChannel + 1) {
      report.error(
        "peers-per-channel",
        `${placeOfBlock(program, b, rank)} makes ${count} with a ${side} peer on channel ${channel}, but ${runtime.title} takes at most ${runtime.peersPerChannel}`,
        whereOfBlock(program, b, rank),
      );
    }
    if (!uses.subarray(program.instructionOffset[b], program.instructionOffset[b + 1]).includes(1)) continue;
    const connection = channel * program.rankCount + peer;
    const other = owner.get(connection);
    if (other === undefined) {
      owner.set(connection, b);
      continue;
    }
    report.error(
      "connection",
      `${placeOfBlock(program, b, rank)} has channel ${channel} and ${side} peer ${peer} like thread block ${program.blockId[other]}, but a connection belongs to one thread block`,
      whereOfBlock(program, b, rank),
    );
  }
}

/** Reports channels that no thread block is on. O(blocks). */
export function reportUnusedChannels(program: Program, report: LimitReport): void {
  const used = new Set(
    program.channel.filter((channel, b) => program.blockId[b] >= 0 && channel < program.channelCount),
  );
  if (used.size === program.channelCount) return;
  report.warning(
    "channels",
    `nchannels is ${program.channelCount}, but thread blocks are on ${used.size} channels only`,
  );
}
