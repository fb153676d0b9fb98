import type { Engine } from "../../src/engine/types.ts";
import type { Carrier } from "../../src/execute/tensor-graph/sharded.ts";
import type { Collective } from "../../src/model/collective/collective.ts";
import { stepsOf } from "../../src/model/steps/schedule.ts";
import { OP_REDUCE, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { groupSize, type Mesh, meshGroups } from "../../src/model/tensor-plan/mesh.ts";
import { MOVE_KINDS, type MoveKind } from "../../src/model/tensor-plan/patterns.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { synthesize } from "../../src/run/synthesize.ts";

/** Where a chunk comes from, and where it goes to: the place of its first element in a member's buffer, and their number. */
interface Place {
  readonly member: number;
  readonly from: number;
  readonly count: number;
}

/** Elements of a part of a buffer that is cut into `of` parts, as even as it can be. */
function part(length: number, at: number, of: number): { readonly from: number; readonly count: number } {
  const from = Math.floor((at * length) / of);
  return { from, count: Math.floor(((at + 1) * length) / of) - from };
}

/** Returns where chunk c of a group is before a collective and behind it, by what its name says of buffers of `length` elements. */
function placesOf(
  kind: MoveKind,
  size: number,
  chunkCount: number,
  c: number,
  length: number,
): { readonly before: readonly Place[]; readonly behind: readonly Place[] } {
  const everyone = Array.from({ length: size }, (_, member) => member);
  if (kind === "allreduce") {
    const all = everyone.map((member) => ({ member, ...part(length, c, chunkCount) }));
    return { before: all, behind: all };
  }
  const blocks = kind === "alltoall" ? size * size : size;
  const each = chunkCount / blocks;
  if (!Number.isInteger(each)) throw new Error(`${chunkCount} chunks in ${blocks} blocks`);
  const block = Math.floor(c / each);
  const own = kind === "allgather" ? length : length / size;
  const { from, count } = part(own, c % each, each);
  const inPart = (member: number, of: number): Place => ({ member, from: of * own + from, count });
  switch (kind) {
    case "allgather":
      return { before: [inPart(block, 0)], behind: everyone.map((member) => inPart(member, block)) };
    case "reducescatter":
      return { before: everyone.map((member) => inPart(member, block)), behind: [inPart(block, 0)] };
    case "alltoall": {
      const [source, target] = [Math.floor(block / size), block % size];
      return { before: [inPart(source, target)], behind: [inPart(target, source)] };
    }
  }
}

/** Returns what each member of group g has when all transfers of a schedule were done in the order of their times. */
function played(
  { collective, routes, chunk, route, startPs, endPs, op }: StepSchedule,
  kind: MoveKind,
  g: number,
  given: readonly Float64Array[],
): Float64Array[] {
  const { groupSize: size, groupCount, chunkCount, groupMembers } = collective;
  const members = groupMembers.subarray(g * size, (g + 1) * size);
  const perGroup = chunkCount / groupCount;
  const [{ length }] = given as [Float64Array];
  const behindLength = kind === "allgather" ? length * size : kind === "reducescatter" ? length / size : length;
  /** [chunks of the group] what each NPU holds of it. */
  const held = Array.from({ length: perGroup }, (_, c) => {
    const holds = new Map<number, Float64Array>();
    for (const { member, from, count } of placesOf(kind, size, perGroup, c, length).before) {
      holds.set(members[member] as number, (given[member] as Float64Array).slice(from, from + count));
    }
    return holds;
  });
  const rows = Array.from(chunk.keys()).filter((row) => Math.floor((chunk[row] as number) / perGroup) === g);
  const events = rows.flatMap((row) => [
    { ps: startPs[row] as number, row, isEnd: false },
    { ps: endPs[row] as number, row, isEnd: true },
  ]);
  // what arrives is there for what starts then
  events.sort((a, b) => a.ps - b.ps || Number(b.isEnd) - Number(a.isEnd) || a.row - b.row);
  const underWay = new Map<number, Float64Array>();
  for (const { row, isEnd } of events) {
    const holds = held[(chunk[row] as number) - g * perGroup] as Map<number, Float64Array>;
    if (!isEnd) {
      const payload = holds.get(routes.source[route[row] as number] as number);
      if (payload === undefined) throw new Error(`transfer ${row} sends what is not there`);
      underWay.set(row, payload.slice());
      continue;
    }
    const target = routes.target[route[row] as number] as number;
    const came = underWay.get(row) as Float64Array;
    const own = op[row] === OP_REDUCE ? holds.get(target) : undefined;
    holds.set(target, own === undefined ? came : own.map((value, i) => value + (came[i] as number)));
  }
  const results = Array.from(members, () => new Float64Array(behindLength).fill(Number.NaN));
  held.forEach((holds, c) => {
    for (const { member, from } of placesOf(kind, size, perGroup, c, length).behind) {
      const has = holds.get(members[member] as number);
      if (has === undefined) throw new Error(`chunk ${c} did not come to member ${member}`);
      (results[member] as Float64Array).set(has, from);
    }
  });
  return results;
}

/** What carries collectives, and what it carried. */
export interface ScheduleCarrier {
  readonly carrier: Carrier;
  /** Times that each kind was carried, by "kind size". */
  readonly carried: ReadonlyMap<string, number>;
}

/**
 * Returns what carries collectives of a mesh by schedules on a network, transfer by transfer: one for every kind and every set of
 * axes, for all its groups together, by an algorithm, in so many chunks.
 */
export async function scheduleCarrier(
  engine: Engine,
  topology: Topology,
  mesh: Mesh,
  { algorithm, chunks }: { readonly algorithm: string; readonly chunks?: number },
): Promise<ScheduleCarrier> {
  const schedules = new Map<string, { readonly schedule: StepSchedule; readonly group: number }>();
  for (let axes = 1; axes < 1 << mesh.axes.length; axes++) {
    const size = groupSize(mesh, axes);
    const all = meshGroups(mesh, axes);
    const groups = Array.from({ length: all.length / size }, (_, g) => [...all.subarray(g * size, (g + 1) * size)]);
    for (const collective of MOVE_KINDS) {
      const made = await synthesize(engine, topology, {
        collective,
        sizeBytes: 4096 * size,
        algorithm,
        ...(chunks !== undefined && { chunks }),
        ...(groups.length > 1 && { group: groups.map((members) => members.join(",")).join(";") }),
      });
      const schedule = stepsOf(made.schedule);
      groups.forEach((members, g) => {
        schedules.set(`${collective} ${members}`, { schedule, group: groupNumber(schedule.collective, members, g) });
      });
    }
  }
  const carried = new Map<string, number>();
  return {
    carried,
    carrier: (kind, members, given) => {
      const found = schedules.get(`${kind} ${[...members]}`);
      if (found === undefined) throw new Error(`no schedule of ${kind} among ${members}`);
      const key = `${kind} ${members.length}`;
      carried.set(key, (carried.get(key) ?? 0) + 1);
      return played(found.schedule, kind, found.group, given);
    },
  };
}

/** Returns the number of a group, whose members have to be in its order. */
function groupNumber({ groupMembers, groupSize: size }: Collective, members: readonly number[], g: number): number {
  if (members.some((npu, m) => groupMembers[g * size + m] !== npu)) throw new Error("members in another order");
  return g;
}
