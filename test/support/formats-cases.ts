import fc from "fast-check";
import { InputError } from "../../src/base/errors.ts";
import { type Random, random } from "../../src/base/random.ts";
import { loadKernels } from "../../src/engine/kernels/load.ts";
import { jointScheduleJsonParts, scheduleToJson } from "../../src/export/schedules/schedule-json.ts";
import { COLLECTIVE_KINDS } from "../../src/model/collective/collective.ts";
import { unitedRoutes } from "../../src/model/joint/joint-schedule.ts";
import { stepsOf } from "../../src/model/steps/schedule.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { type SynthesizeResult, synthesize } from "../../src/run/synthesize.ts";
import { anyPlan } from "../simulate/any-plan.ts";
import { pick } from "./draws.ts";
import { engineOf } from "./joint-schedules.ts";
import { mergedSchedule } from "./merged-schedules.ts";

/** A schedule file of random origin, and what synth said its simulation takes where it came from there. */
export interface FileCase {
  readonly origin: string;
  readonly text: string;
  readonly simulatedPs?: number;
}

const BYTES_PER_SECOND = [5e8, 1e9, 1e9, 2e9, 3e9, 5e10];
const LATENCIES_PS = [0, 0, 1000, 2000, 500_000];
const { kernels } = await loadKernels();
const ALGORITHMS = [
  ...["tacos", "tacos", "ring", "rings", "direct", "direct", "rhd", "bruck", "pat", "dbt", "bfb", "mcf"],
  ...["blueconnect", "multitree", "nccl-rings", "shifted-rings"],
];

/** Returns 2 to 5 NPUs and 0 to 3 switches, all joined; half the time all links are equal, so that much happens at once. */
function smallNetwork(draws: Random): Topology {
  const [npus, switches] = [2 + draws.below(4), draws.below(4)];
  const builder = topologyBuilder("random");
  for (let npu = 0; npu < npus; npu++) builder.addNpu(`n${npu}`);
  for (let s = 0; s < switches; s++) builder.addSwitch(`s${s}`);
  const equal = draws.below(2) === 0;
  const [rate, latency] = [pick(BYTES_PER_SECOND, draws), pick(LATENCIES_PS, draws)];
  const join = (a: number, b: number): void => {
    if (equal) builder.addDuplex(a, b, rate, latency);
    else builder.addDuplex(a, b, pick(BYTES_PER_SECOND, draws), pick(LATENCIES_PS, draws));
  };
  for (let s = npus + 1; s < npus + switches; s++) join(s, npus + draws.below(s - npus));
  for (let npu = 0; npu < npus; npu++) {
    if (switches > 0) join(npu, npus + draws.below(switches));
    else if (npu > 0) join(npu, draws.below(npu));
  }
  for (let more = draws.below(4); more > 0; more--) {
    const [a, b] = [draws.below(npus), draws.below(npus + switches)];
    if (a !== b) join(a, b);
  }
  return builder.build();
}

async function synthesizedOn(network: Topology | null, draws: Random): Promise<SynthesizeResult & { origin: string }> {
  for (;;) {
    const algorithm = pick(ALGORITHMS, draws);
    const collective = pick(COLLECTIVE_KINDS, draws);
    const topology = network ?? smallNetwork(draws);
    const chunks = pick([1, 1, 2, 3], draws);
    const sizeBytes = pick([1, 7, 12, 60, 4096, 12_345, 1_000_000], draws);
    const seed = draws.below(1000);
    try {
      const trials = algorithm === "tacos" ? { trials: 1 } : {};
      const asked = { collective, algorithm, chunks, sizeBytes, seed, ...trials };
      const result = await synthesize(engineOf(kernels), topology, asked);
      if (stepsOf(result.schedule).chunk.length <= 120) return { ...result, origin: `${algorithm} ${collective}` };
    } catch (error) {
      // the algorithm cannot do that there
      if (!(error instanceof InputError)) throw error;
    }
  }
}

async function synthesized(draws: Random): Promise<FileCase> {
  const { origin, schedule, report } = await synthesizedOn(null, draws);
  const steps = stepsOf(schedule);
  const text = scheduleToJson(steps);
  if (steps !== schedule || report.ofLimit === null) return { origin, text };
  return { origin, text, simulatedPs: Math.round(report.time.us * 1e6) };
}

/** Returns two schedules on one network at once, which may want the same link at the same time. */
async function joint(draws: Random): Promise<FileCase> {
  const topology = smallNetwork(draws);
  const steps = [await synthesizedOn(topology, draws), await synthesizedOn(topology, draws)].map(({ schedule }) =>
    stepsOf(schedule),
  );
  const { routes, places } = unitedRoutes(steps.map((one) => one.routes));
  const tenants = steps.map((one, t) => ({
    ...one,
    route: Int32Array.from(one.route, (r) => places[t]?.[r] as number),
  }));
  return { origin: "joint", text: [...jointScheduleJsonParts({ topology, routes, tenants })].join("") };
}

/** Returns the text of a schedule file with its rows in another order. */
export function shuffled(text: string, draws: Random): string {
  const file = JSON.parse(text);
  for (const { transfers } of file.tenants ?? [file]) {
    const keys = transfers.chunk.map(() => draws.next());
    const order = [...keys.keys()].sort((a, b) => keys[a] - keys[b] || a - b);
    for (const name of ["chunk", "route", "startPs", "endPs", "op"]) {
      const column = transfers[name];
      transfers[name] = order.map((i) => column[i]);
    }
  }
  return JSON.stringify(file);
}

/** Returns so many files: of all algorithms that make steps quickly, of several collectives, plans by hand, merged sends. */
export async function fileCases(count: number, seed: number): Promise<FileCase[]> {
  const draws = random(seed, 0xf11e);
  const plans = fc.sample(anyPlan({ direct: false, reductions: true }), { numRuns: count, seed });
  const cases: FileCase[] = [];
  for (let i = 0; i < count; i++) {
    const kind = i % 20;
    if (kind === 17) cases.push(await joint(draws));
    else if (kind === 18) cases.push({ origin: "plan", text: scheduleToJson(plans[i]) });
    else if (kind === 19) cases.push({ origin: "merged", text: scheduleToJson(mergedSchedule(draws.below(1e6))) });
    else cases.push(await synthesized(draws));
  }
  return cases;
}
