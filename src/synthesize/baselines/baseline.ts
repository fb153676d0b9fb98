import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { type Collective, type CollectiveKind, withChunks } from "../../model/collective/collective.ts";
import { listSchedule, OVERHEAD_PARTS, quickerOrder, quickerPs } from "../../model/messages/list-schedule.ts";
import { type Messages, MOST_ISSUED } from "../../model/messages/messages.ts";
import { leastTransfers } from "../../model/steps/estimate.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { leastOf, simulatedPs } from "../fastest.ts";
import type { Traits } from "../maker.ts";
import type { SynthesisRequest, Synthesizer } from "../synthesizer.ts";

export interface BaselineRequest {
  readonly topology: Topology;
  readonly collective: Collective;
  /** One of the policies; "" where there are none. */
  readonly policy: string;
}

/** An algorithm that says which messages are sent in which order, whatever the network. */
export interface Baseline {
  readonly name: string;
  readonly description: string;
  readonly collectives: readonly CollectiveKind[];
  /** Where none is asked for, the fastest in the replay is taken; the earlier of equal ones. */
  readonly policies?: readonly string[];
  /** Returns the policy where there are too many transfers to try all; without it the first. */
  usualPolicy?(topology: Topology): string;
  readonly traits?: Traits;
  refuses?(topology: Topology, collective: Collective): string | null;
  /** Returns how many rings or trees, each with thread blocks of its own, share the chunks; without it one. */
  lanes?(request: BaselineRequest): number;
  /** Returns of what the number of chunks per NPU should be a multiple where size is all; without it the number of lanes. */
  unit?(request: BaselineRequest): number;
  /** Whether chunks follow each other, so that more than a unit of them may be faster. */
  pipelines?(kind: CollectiveKind): boolean;
  issue(request: BaselineRequest): Messages;
  /** Returns in words what was done. */
  words(request: BaselineRequest): string;
}

/**
 * Returns the synthesizer that puts a baseline's messages on shortest paths, each as early as links and data allow;
 * where chunks are cut for lanes or pipelines, in the order in which they are ready if that is quicker.
 */
export function fromBaseline(baseline: Baseline): Synthesizer {
  const { name, description, collectives, policies = [], traits, lanes, pipelines, issue, words } = baseline;
  const refuses = baseline.refuses ?? (() => null);
  /** One for each policy that may be taken. */
  const asked = ({ topology, collective, policy }: SynthesisRequest): BaselineRequest[] => {
    const refusal = refuses(topology, collective);
    if (refusal !== null) {
      throw new InputError("the topology", refusal, inWords(`${topology.name}, ${collective.groupSize} NPUs`));
    }
    refuseManyMessages(collective);
    const usual = baseline.usualPolicy?.(topology) ?? policies[0] ?? "";
    const open = policies.length === 0 || leastTransfers(collective) > MOST_MESSAGES ? [usual] : policies;
    return (policy === null ? open : [policy]).map((one) => ({ topology, collective, policy: one }));
  };
  const cuts = lanes !== undefined || pipelines !== undefined;
  const ordered = (one: BaselineRequest): Messages => {
    const issued = issue(one);
    return cuts ? quickerOrder(one.topology, one.collective, issued) : issued;
  };
  const psOf = (one: BaselineRequest): number => simulatedPs(listSchedule(one.topology, one.collective, ordered(one)));
  return {
    name,
    makes: "steps",
    description,
    collectives,
    policies,
    ...(traits === undefined ? {} : { traits }),
    refuses,
    ...(cuts && {
      async ownChunks(request) {
        const found = asked(request).map((one) => {
          const many = lanes?.(one) ?? 1;
          const good = goodChunks({
            ...one,
            lanes: many,
            unit: baseline.unit?.(one) ?? many,
            pipelines: pipelines?.(one.collective.kind) ?? false,
            issue: (collective) => issue({ ...one, collective }),
          });
          return { ...good, one: { ...one, collective: withChunks(one.collective, good.chunks) } };
        });
        const most = found.find(({ isTooMany }) => isTooMany);
        return (most ?? leastOf(found, ({ one }) => psOf(one))).chunks;
      },
    }),
    async synthesize(request) {
      const one = leastOf(asked(request), psOf);
      return { schedule: listSchedule(one.topology, one.collective, ordered(one)), policy: words(one), trials: 1 };
    },
  };
}

/** Throws InputError where a collective needs more messages than there is room for, however they are sent. */
function refuseManyMessages(collective: Collective): void {
  const { chunkCount, chunksPerNpu, groupSize } = collective;
  const least = leastTransfers(collective) - (collective.kind === "alltoall" ? chunkCount / groupSize : 0);
  if (least <= MOST_ISSUED || chunksPerNpu === 1) return;
  const most = Math.floor((MOST_ISSUED / least) * chunksPerNpu);
  throw new InputError(
    optionName("chunks"),
    `at most ${most}, so that there are at most ${MOST_ISSUED} messages,`,
    chunksPerNpu,
  ).as("out-of-range");
}

/** Returns "one group ..." where the collective is not among all NPUs; null where it is. */
export const refuseGroups = (
  name: string,
  { npuCount }: Topology,
  { groupCount, groupSize }: Collective,
): string | null => (groupCount === 1 && groupSize === npuCount ? null : `one group of all NPUs for ${name}`);

/** Schedules of more transfers than this many are not looked at. */
const MOST_MESSAGES = 2e5;
/** More chunks must gain more than this part of the time. */
const WORTHWHILE_PARTS = 128;
/** So many numbers in turn that gain no more end the search. */
const PATIENCE = 2;

/** Messages of which only the number of chunks is open. */
interface Cutting {
  readonly topology: Topology;
  /** With one chunk per NPU. */
  readonly collective: Collective;
  readonly lanes: number;
  /** Chunks per NPU that give all lanes equally many. */
  readonly unit: number;
  /** Whether more chunks than that may be faster. */
  readonly pipelines: boolean;
  issue(collective: Collective): Messages;
}

/** A number of chunks per NPU. */
interface GoodChunks {
  readonly chunks: number;
  /** Too many transfers to be looked at. */
  readonly isTooMany: boolean;
}

/**
 * Returns a number of chunks per NPU: of 1, 2, 4, ... below `unit` and `unit` times 1, 2, 4, ... the least that takes at most
 * 1/128 longer than the best of them, in the quicker order of messages. Each costs its lane 1/64 of its latency besides.
 */
function goodChunks({ topology, collective, lanes, unit, pipelines, issue }: Cutting): GoodChunks {
  const cutBy = (chunks: number): Collective => withChunks(collective, chunks);
  const isTooLarge = (chunks: number): boolean => leastTransfers(cutBy(chunks)) > MOST_MESSAGES;
  if (isTooLarge(unit) || (unit === 1 && !pipelines)) return { chunks: unit, isTooMany: isTooLarge(unit) };
  const tried: { readonly chunks: number; readonly ps: number }[] = [];
  const tryOut = (chunks: number): number => {
    const cut = cutBy(chunks);
    const ps = quickerPs(topology, cut, issue(cut), lanes * OVERHEAD_PARTS);
    tried.push({ chunks, ps });
    return ps;
  };
  for (let chunks = 1; chunks < unit; chunks *= 2) tryOut(chunks);
  let best = tryOut(unit);
  for (let worse = 0, chunks = 2 * unit; pipelines && worse < PATIENCE && !isTooLarge(chunks); chunks *= 2) {
    const ps = tryOut(chunks);
    worse = best - ps > best / WORTHWHILE_PARTS ? 0 : worse + 1;
    best = Math.min(best, ps);
  }
  for (const { ps } of tried) best = Math.min(best, ps);
  const chunks = tried.find(({ ps }) => ps - best <= best / WORTHWHILE_PARTS)?.chunks ?? unit;
  return { chunks, isTooMany: false };
}

/** Returns the rank of every NPU in a group of all NPUs. */
function rankOfNpu({ groupMembers }: Collective): Int32Array {
  const rank = new Int32Array(groupMembers.length);
  groupMembers.forEach((npu, i) => {
    rank[npu] = i;
  });
  return rank;
}

/** Returns orders of NPUs as orders of the ranks of a group of all NPUs. */
export function ordersOfRanks(collective: Collective, orders: readonly ArrayLike<number>[]): Int32Array[] {
  const rank = rankOfNpu(collective);
  return orders.map((order) => Int32Array.from(order, (npu) => rank[npu]));
}

/** Returns trees of NPUs ([NPUs] parents, -1 at the root) as trees of the ranks of a group of all NPUs. */
export function parentsOfRanks(collective: Collective, trees: readonly Int32Array[]): Int32Array[] {
  const rank = rankOfNpu(collective);
  return trees.map((parent) =>
    Int32Array.from(collective.groupMembers, (npu) => (parent[npu] < 0 ? -1 : rank[parent[npu]])),
  );
}
