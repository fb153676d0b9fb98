import { type Random, random } from "../../src/base/random.ts";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import { withChunks } from "../../src/model/collective/collective.ts";
import type { PeriodSchedule } from "../../src/model/periods/period-schedule.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { routeTimes } from "../../src/model/routes/routes.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { periodsOf } from "../../src/synthesize/tacos/periods/periods.ts";
import { pick } from "./draws.ts";
import { inlineRunner, wholeCollective } from "./synthesis.ts";

/** Returns 2 to 6 NPUs joined by two-way links, some side by side, alike or of mixed figures. */
function twoWayNetwork(draws: Random): Topology {
  const npus = 2 + draws.below(5);
  const builder = topologyBuilder(`${npus} NPUs`);
  for (let v = 0; v < npus; v++) builder.addNpu(`${v}`);
  const mixed = draws.below(2) === 0;
  for (let i = 1; i < npus + draws.below(2 * npus); i++) {
    const [from, to] = i < npus ? [i, draws.below(i)] : [draws.below(npus), draws.below(npus)];
    const [rate, latency] = mixed ? [pick([25e9, 50e9, 75e9], draws), pick([0, 3000, 500_000], draws)] : [50e9, 20_000];
    if (from !== to) builder.addDuplex(from, to, rate, latency);
  }
  return builder.build();
}

/** Returns what the maker makes of an all-reduce on a network. */
export async function periodsOn(
  topology: Topology,
  sizeBytes: number,
  chunks: number,
  seed = 1,
): Promise<PeriodSchedule> {
  const collective = wholeCollective(topology, "allreduce", sizeBytes, chunks);
  const routes = routesOf(topology, 1);
  const found = await periodsOf(
    topology,
    collective,
    routes,
    routeTimes(topology, routes, collective.chunkBytes),
    seed,
    { runner: inlineRunner(jsKernels) },
  );
  if (found === null) throw new Error(`no periods on ${topology.name}`);
  return found.schedule;
}

/** Returns small schedules as the maker makes them, on random networks and a mesh. */
export async function periodCases(count: number): Promise<readonly PeriodSchedule[]> {
  const cases = [await periodsOn(presetTopology("mesh:3x3"), 2 ** 20, 2)];
  for (let number = 1; number < count; number++) {
    const draws = random(number, 51);
    const topology = twoWayNetwork(draws);
    cases.push(await periodsOn(topology, 1 + draws.below(2 ** 20), 1 + draws.below(20), number));
  }
  return cases;
}

/** Columns that may be written. */
type Draft = { -readonly [Key in keyof PeriodSchedule]: PeriodSchedule[Key] };
type Mutation = (draft: Draft, draws: Random) => void;

/** Returns a place that is no root, with its tree, NPU and one of its two jobs. */
function anyPlace({ entry, topology }: Draft, draws: Random) {
  const places = [...entry.keys()].filter((at) => entry[at] >= 0);
  const place = pick(places.length > 0 ? places : [0], draws);
  const npu = place % topology.npuCount;
  const up = 2 * place - npu;
  return { place, npu, up, down: up + topology.npuCount, job: up + draws.below(2) * topology.npuCount };
}

const anyEdge = ({ there }: Draft, draws: Random): number => draws.below(there.length);

/** Ways to change periods a little, most of which break them. */
export const PERIOD_MUTATIONS: Readonly<Record<string, Mutation>> = {
  "started a picosecond earlier": (draft, draws) => {
    draft.startPs[anyPlace(draft, draws).job] -= 1;
  },
  "started a picosecond later": (draft, draws) => {
    draft.startPs[anyPlace(draft, draws).job] += 1;
  },
  "started a period later": (draft, draws) => {
    draft.startPs[anyPlace(draft, draws).job] += draft.periodPs;
  },
  "started when another does": (draft, draws) => {
    draft.startPs[anyPlace(draft, draws).job] = draft.startPs[anyPlace(draft, draws).job];
  },
  "starts swapped": ({ startPs, ...draft }, draws) => {
    const [a, b] = [anyPlace({ startPs, ...draft }, draws).job, anyPlace({ startPs, ...draft }, draws).job];
    [startPs[a], startPs[b]] = [startPs[b], startPs[a]];
  },
  "started between picoseconds, or before all": (draft, draws) => {
    draft.startPs[anyPlace(draft, draws).job] = pick([0.5, -1, -draft.periodPs, Number.NaN, 2 ** 53], draws);
  },
  "all started later": (draft, draws) => {
    const later = draws.below(3) * draft.periodPs + draws.below(1000);
    for (const [at, start] of draft.startPs.entries()) if (start >= 0) draft.startPs[at] = start + later;
  },
  "another edge": (draft, draws) => {
    draft.entry[anyPlace(draft, draws).place] = anyEdge(draft, draws);
  },
  "another edge there": (draft, draws) => {
    const { place, npu } = anyPlace(draft, draws);
    const own = [...draft.there.keys()].filter((edge) =>
      [draft.routes.source[draft.there[edge]], draft.routes.target[draft.there[edge]]].includes(npu),
    );
    draft.entry[place] = pick(own, draws);
  },
  "edges swapped": (draft, draws) => {
    const [a, b] = [anyPlace(draft, draws).place, anyPlace(draft, draws).place];
    [draft.entry[a], draft.entry[b]] = [draft.entry[b], draft.entry[a]];
  },
  "an edge that is none": (draft, draws) => {
    draft.entry[anyPlace(draft, draws).place] = pick([draft.there.length, -2, -1], draws);
  },
  "a second root": (draft, draws) => {
    const { place, up, down } = anyPlace(draft, draws);
    draft.entry[place] = -1;
    draft.startPs[up] = -1;
    draft.startPs[down] = -1;
  },
  "no root": (draft, draws) => {
    const root = pick(
      [...draft.entry.keys()].filter((at) => draft.entry[at] < 0),
      draws,
    );
    const npu = root % draft.topology.npuCount;
    draft.entry[root] = draft.there.findIndex((to) => [draft.routes.source[to], draft.routes.target[to]].includes(npu));
    const last = draft.startPs.reduce((most, ps) => Math.max(most, ps), 0);
    draft.startPs[2 * root - npu] = last;
    draft.startPs[2 * root - npu + draft.topology.npuCount] = last;
  },
  "ways swapped": (draft, draws) => {
    const edge = anyEdge(draft, draws);
    [draft.there[edge], draft.back[edge]] = [draft.back[edge], draft.there[edge]];
  },
  "another way back": (draft, draws) => {
    draft.back[anyEdge(draft, draws)] = draws.below(draft.routes.source.length + 1);
  },
  "a period of more or less": (draft, draws) => {
    draft.periodPs += pick([-1, 1, 17, -17, draws.below(draft.periodPs)], draws);
  },
  "another period": (draft, draws) => {
    draft.periodPs = pick([Math.ceil(draft.periodPs / 2), 2 * draft.periodPs, 0, 0.5], draws);
  },
  "a tree less": (draft) => {
    draft.entry = draft.entry.slice(0, -draft.topology.npuCount);
    draft.startPs = draft.startPs.slice(0, -2 * draft.topology.npuCount);
  },
  "a tree twice": (draft) => {
    const { npuCount } = draft.topology;
    draft.entry = Int32Array.of(...draft.entry, ...draft.entry.slice(0, npuCount));
    draft.startPs = Float64Array.of(...draft.startPs, ...draft.startPs.slice(0, 2 * npuCount));
  },
  "a place less": (draft, draws) => {
    if (draws.below(2) === 0) draft.entry = draft.entry.slice(0, -1);
    else draft.startPs = draft.startPs.slice(0, -1);
  },
  "other chunks": (draft, draws) => {
    draft.collective = withChunks(draft.collective, 1 + draws.below(20));
  },
  "another collective": (draft, draws) => {
    const { topology, collective } = draft;
    const kind = pick(["allgather", "reducescatter", "broadcast", "alltoall"] as const, draws);
    draft.collective = wholeCollective(topology, kind, collective.sizeBytes, collective.chunksPerNpu);
  },
};

/** Returns a copy that is changed in a random way, with the name of that. */
export function periodMutant(schedule: PeriodSchedule, draws: Random): { name: string; schedule: PeriodSchedule } {
  const name = pick(Object.keys(PERIOD_MUTATIONS), draws);
  const { entry, startPs, there, back } = schedule;
  const draft = {
    ...schedule,
    entry: entry.slice(),
    startPs: startPs.slice(),
    there: there.slice(),
    back: back.slice(),
  };
  (PERIOD_MUTATIONS[name] as Mutation)(draft, draws);
  return { name, schedule: draft };
}
