import fc from "fast-check";
import type { Kernels } from "../../src/engine/contract/kernels.ts";
import type { Engine } from "../../src/engine/types.ts";
import { COLLECTIVE_KINDS, hasRoot } from "../../src/model/collective/collective.ts";
import { type JointSchedule, tenantSchedule } from "../../src/model/joint/joint-schedule.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { connectedTopology } from "./connected-topology.ts";
import { judge, messagesAmong } from "./schedule-oracle.ts";
import { rowsOf } from "./schedule-rows.ts";

/** Returns an engine on kernels at hand that has no threads. */
export const engineOf = (kernels: Kernels): Engine =>
  ({
    backend: kernels.backend,
    kernels,
    pool: () => {
      throw new Error("no threads here");
    },
    freeMemory: () => Number.POSITIVE_INFINITY,
    close: async () => {},
  }) as unknown as Engine;

/** A small network and one to three collectives on it, some of them of process groups. */
export const tenantSets = (): fc.Arbitrary<{ topology: Topology; tenants: readonly TenantAsked[]; seed: number }> =>
  connectedTopology(8).chain((topology) =>
    fc.record({
      topology: fc.constant(topology),
      seed: fc.nat(2 ** 32 - 1),
      tenants: fc.array(tenantOf(topology), { minLength: 1, maxLength: 3 }),
    }),
  );

export interface TenantAsked {
  readonly collective: (typeof COLLECTIVE_KINDS)[number];
  readonly sizeBytes: number;
  readonly chunks: number;
  readonly group?: string;
  readonly root?: number;
}

const tenantOf = (topology: Topology): fc.Arbitrary<TenantAsked> =>
  fc
    .record({
      collective: fc.constantFrom(...COLLECTIVE_KINDS),
      sizeBytes: fc.constantFrom(1000, 2 ** 20, 3 * 2 ** 20),
      chunks: fc.integer({ min: 1, max: 3 }),
      members: fc.shuffledSubarray(
        Array.from({ length: topology.npuCount }, (_, v) => v),
        { minLength: 1 },
      ),
      parts: fc.constantFrom(0, 1, 2),
    })
    .map(({ members, parts, ...rest }) => {
      if (parts === 0) return hasRoot(rest.collective) ? { ...rest, root: members[0] as number } : rest;
      if (parts === 1 || members.length < 2) return { ...rest, group: members.join(",") };
      const half = Math.floor(members.length / 2);
      return { ...rest, group: `${members.slice(0, half).join(",")};${members.slice(half, 2 * half).join(",")}` };
    });

/**
 * Returns what is wrong with a joint schedule by brute force: the oracle of single schedules on each tenant, and every
 * departure of anyone against everything that is on each of its links at that moment.
 */
export function jointFaults(joint: JointSchedule): string[] {
  const faults: string[] = [];
  const rows: { start: number; end: number; links: Map<number, [bigint, bigint]> }[] = [];
  joint.tenants.forEach((_, t) => {
    const schedule = tenantSchedule(joint, t);
    if (!judge(schedule).valid) faults.push(`collective ${t}`);
    for (const { row } of messagesAmong(rowsOf(schedule))) {
      const { route, start, end } = row;
      const links = new Map<number, [bigint, bigint]>();
      for (let i = joint.routes.linkOffset[route]; i < joint.routes.linkOffset[route + 1]; i++) {
        links.set(joint.routes.links[i], [BigInt(joint.routes.shareNum[i]), BigInt(joint.routes.shareDen[i])]);
      }
      rows.push({ start, end, links });
    }
  });
  for (const departing of rows) {
    for (const link of departing.links.keys()) {
      let [num, den] = [0n, 1n];
      for (const other of rows) {
        const share = other.links.get(link);
        if (share === undefined || other.start > departing.start || other.end <= departing.start) continue;
        [num, den] = [num * share[1] + share[0] * den, den * share[1]];
      }
      if (num > den) faults.push(`link ${link} at ${departing.start}`);
    }
  }
  return faults;
}
