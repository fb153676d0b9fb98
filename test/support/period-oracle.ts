import type { PeriodSchedule } from "../../src/model/periods/period-schedule.ts";

/** A transfer of some round. */
interface Send {
  readonly chunk: number;
  readonly from: number;
  readonly to: number;
  readonly route: number;
  readonly sums: boolean;
  readonly startPs: number;
  /** When it is through on its route, and when it is there. */
  readonly freePs: number;
  readonly endPs: number;
}

const isTime = (ps: number): boolean => Number.isInteger(ps) && ps >= 0 && ps <= Number.MAX_SAFE_INTEGER;

/** Returns what is wrong with the columns by what is said of them in the noun; null: nothing. */
function wordsBroken(schedule: PeriodSchedule): string | null {
  const { topology, collective, routes, there, back, entry, startPs, periodPs } = schedule;
  const { npuCount } = topology;
  const { groupCount, groupMembers } = collective;
  if (collective.kind !== "allreduce" || groupCount !== 1 || groupMembers.join() !== [...Array(npuCount).keys()].join())
    return "collective";
  if (!isTime(periodPs) || periodPs < 1) return "period";
  const trees = entry.length / npuCount;
  if (!Number.isInteger(trees) || trees < 1 || trees > collective.chunkCount) return "trees";
  if (startPs.length !== 2 * entry.length || there.length !== back.length) return "lengths";
  for (const [edge, to] of there.entries()) {
    const from = back[edge];
    if (routes.source[to] === undefined || routes.source[from] === undefined) return "edges";
    if (routes.source[to] !== routes.target[from] || routes.target[to] !== routes.source[from]) return "edges";
  }
  for (let i = 0; i < trees; i++) {
    let roots = 0;
    for (let v = 0; v < npuCount; v++) {
      const edge = entry[i * npuCount + v];
      const [up, down] = [startPs[2 * npuCount * i + v], startPs[2 * npuCount * i + npuCount + v]];
      if (edge === -1) {
        roots++;
        if (up !== -1 || down !== -1) return "root";
        continue;
      }
      if (edge < 0 || edge >= there.length) return "entry";
      if (routes.source[there[edge]] !== v && routes.target[there[edge]] !== v) return "entry";
      if (!isTime(up) || !isTime(down)) return "start";
    }
    if (roots !== 1) return "roots";
  }
  return null;
}

/** Returns all transfers of so many chunks. */
function sendsOf(schedule: PeriodSchedule, chunks: number): Send[] {
  const { topology, collective, routes, there, back, entry, startPs, periodPs } = schedule;
  const { npuCount, linkBytesPerSecond, linkLatencyPs } = topology;
  const trees = entry.length / npuCount;
  const sends: Send[] = [];
  for (let chunk = 0; chunk < chunks; chunk++) {
    const i = chunk % trees;
    const round = Math.floor(chunk / trees);
    for (let v = 0; v < npuCount; v++) {
      const edge = entry[i * npuCount + v];
      if (edge === -1) continue;
      const both = [there[edge], back[edge]];
      const up = both.find((r) => routes.source[r] === v) as number;
      const down = both.find((r) => routes.target[r] === v) as number;
      for (const [route, sums, job] of [
        [up, true, v],
        [down, false, npuCount + v],
      ] as const) {
        const link = routes.links[routes.linkOffset[route]];
        const { num, den } = collective.chunkBytes;
        const rate = BigInt(linkBytesPerSecond[link]) * den;
        const serialPs = Number((num * 1_000_000_000_000n + rate - 1n) / rate);
        const start = startPs[2 * npuCount * i + job] + round * periodPs;
        const [from, to] = [routes.source[route], routes.target[route]];
        const freePs = start + serialPs;
        sends.push({ chunk, from, to, route, sums, startPs: start, freePs, endPs: freePs + linkLatencyPs[link] });
      }
    }
  }
  return sends;
}

/** Returns whether some two transfers of a route are on it at once. */
function meets(sends: readonly Send[]): boolean {
  const byRoute = new Map<number, Send[]>();
  for (const send of sends) byRoute.set(send.route, [...(byRoute.get(send.route) ?? []), send]);
  return [...byRoute.values()].some((own) =>
    own.some((a, i) => own.some((b, j) => i < j && a.startPs < b.freePs && b.startPs < a.freePs)),
  );
}

/** Returns whether every NPU ends with everyone's contribution to every chunk, none of them twice. */
function sumsUp(sends: readonly Send[], npuCount: number, chunks: number): boolean {
  const held = Array.from({ length: chunks }, () => Array.from({ length: npuCount }, (_, v) => 1n << BigInt(v)));
  const carried = new Map<Send, bigint>();
  const events = sends.flatMap((send) => [
    { send, ps: send.endPs, arrives: true },
    { send, ps: send.startPs, arrives: false },
  ]);
  events.sort((a, b) => a.ps - b.ps || Number(b.arrives) - Number(a.arrives));
  for (const { send, arrives } of events) {
    const { chunk, from, to, sums } = send;
    const own = held[chunk] as bigint[];
    if (!arrives) {
      carried.set(send, own[from]);
      continue;
    }
    const sum = carried.get(send) as bigint;
    if (sums && (own[to] & sum) !== 0n) return false;
    own[to] = sums ? own[to] | sum : sum;
  }
  return held.every((own) => own.every((sum) => sum === (1n << BigInt(npuCount)) - 1n));
}

/**
 * Returns what is wrong with periods on a network without switches, by carrying out as many rounds as can meet; null where nothing
 * is. Plain and slow: O(transfers^2).
 */
export function brokenPeriods(schedule: PeriodSchedule): string | null {
  const words = wordsBroken(schedule);
  if (words !== null) return words;
  const { topology, entry, startPs, periodPs } = schedule;
  const trees = entry.length / topology.npuCount;
  const one = sendsOf(schedule, trees);
  const rounds = 2 + Math.ceil(one.reduce((last, { freePs }) => Math.max(last, freePs), 0) / periodPs);
  if (rounds > 400) throw new Error(`${rounds} rounds of ${startPs.length} jobs are too many for the oracle`);
  if (meets(sendsOf(schedule, rounds * trees))) return "meets";
  return sumsUp(sendsOf(schedule, 2 * trees), topology.npuCount, 2 * trees) ? null : "sums";
}

/** Returns when the last chunk of a correct schedule is there. */
export const lastArrivalPs = (schedule: PeriodSchedule): number =>
  sendsOf(schedule, schedule.collective.chunkCount).reduce((last, { endPs }) => Math.max(last, endPs), 0);
