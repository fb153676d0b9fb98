import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InfeasibleError, InputError } from "../../src/base/errors.ts";
import { type Random, random } from "../../src/base/random.ts";
import { openEngine } from "../../src/engine/engine.ts";
import type { Engine } from "../../src/engine/types.ts";
import { topologyToJson } from "../../src/export/networks/topology-json.ts";
import { COLLECTIVE_KINDS } from "../../src/model/collective/collective.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { without } from "../../src/model/topology/modify.ts";
import { linkNames, type Topology } from "../../src/model/topology/topology.ts";
import type { Chain, Report } from "../../src/report/result.ts";
import { compare } from "../../src/run/compare.ts";
import { reportOfFile } from "../../src/run/report-file.ts";
import { synthesize } from "../../src/run/synthesize.ts";
import { ALGORITHMS } from "../../src/synthesize/catalog.ts";
import { withTraits } from "../support/able-switches.ts";
import { commandsHere } from "../support/cli-here.ts";
import { runs, seen, triesAll } from "../support/runs.ts";

/** limit <= limit of the class <= time, in the network model, whatever is asked and whoever is asked. */

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

const PRESETS = [
  "ring:5",
  "mesh:3x3",
  "torus:4x2@40,20GB/s,1us",
  "hypercube:3",
  "fc:4",
  "switch:6",
  "fc:2*ring:3",
  "switch:3*switch:2@300,25GB/s,0.5us",
  "dgx-a100:2",
  "dgx-h100:2",
  "mi250:1",
  "dgx1",
  "fat-tree:4x2,leaf=2,tiers=2@450,50GB/s",
  "K(3,3)@25Gbps,10us",
  "L(K(2,2))@25Gbps,10us",
];
/** They stop at a time limit. */
const SOLVERS = ["tacos-ilp", "taccl", "sccl"];
const SIZES = [0, 1, 64, 4096, 1 << 20, 1 << 24, 1 << 30, 3_000_017];

/** Returns a network of the list: as it is, with switches that can do other things, or with links that failed. */
function drawnNetwork({ below }: Random): Topology {
  const topology = presetTopology(PRESETS[below(PRESETS.length)] as string);
  const able = withTraits(topology, () => ({ multicast: below(2) === 0, aggregation: below(2) === 0 }));
  const given = below(3) === 0 ? able : topology;
  if (below(3) > 0) return given;
  const names = linkNames(given);
  return without(given, [names[below(names.length)] as string]);
}

function expectChain({ time, limit, classLimit, ofLimit, ofClassLimit, gaps }: Chain, what: string): void {
  expect(limit.us, what).toBeLessThanOrEqual(classLimit?.us ?? time.us);
  expect(classLimit?.us ?? 0, what).toBeLessThanOrEqual(time.us);
  if (classLimit !== null) expect(classLimit.us, what).toBeGreaterThan(limit.us);
  expect(ofLimit, what).toBe(time.us === 0 ? 1 : limit.us / time.us);
  expect(ofClassLimit, what).toBe(classLimit === null ? null : classLimit.us / time.us);
  // what lies between is all there is, but for what is too little to be told
  const told = gaps.reduce((sum, { us }) => sum + us, 0);
  expect(time.us - limit.us - told, what).toBeLessThanOrEqual(2e-4 * time.us);
  expect(time.us - limit.us - told, what).toBeGreaterThanOrEqual(-1e-9 * time.us);
}

/** Returns what is drawn, as a request and in words. */
function drawnRequest(draws: Random) {
  const { below } = draws;
  const algorithm = ALGORITHMS[below(ALGORITHMS.length)]?.name as string;
  const made = ALGORITHMS.find(({ name }) => name === algorithm)?.collectives ?? [];
  const collective = (made[below(made.length)] ?? COLLECTIVE_KINDS[0]) as (typeof COLLECTIVE_KINDS)[number];
  const sizeBytes = SIZES[below(SIZES.length)] as number;
  const chunks = [undefined, 1, 3, "auto" as const][below(4)];
  return {
    collective,
    sizeBytes,
    algorithm,
    ...(chunks === undefined ? {} : { chunks }),
    ...(below(4) === 0 ? { switching: "store-and-forward" as const } : {}),
    ...(SOLVERS.includes(algorithm) ? { timeLimitMs: 300 } : {}),
  };
}

/** BANYAN_TESTS=large tries 2,000, in some minutes. */
const REPORTS = process.env["BANYAN_TESTS"] === "large" ? 2000 : 800;

const isRefusal = (error: unknown): boolean => error instanceof InputError || error instanceof InfeasibleError;

describe("one scale", () => {
  it("has limit <= limit of the class <= time in every report", { timeout: triesAll ? 900_000 : 120_000 }, async () => {
    const kinds = new Map<string, number>();
    const classes = new Map<string, number>();
    for (let [i, made] = [0, 0]; made < runs(REPORTS); i++) {
      const draws = random(i + 1);
      const topology = drawnNetwork(draws);
      const request = drawnRequest(draws);
      const what = `${i}: ${topology.name} ${JSON.stringify(request)}`;
      let report: Report;
      try {
        const result = await synthesize(engine, topology, request);
        report = result.report;
        // who reads the file says the same, but for what only the maker knows
        if (i % 10 === 0 && request.switching === undefined && report.ofLimit !== null) {
          const read = reportOfFile(result.schedule, engine.kernels);
          expectChain(read, `read ${what}`);
          if (request.algorithm !== "mcf") expect(read.limit.us, what).toBe(report.limit.us);
        }
      } catch (error) {
        if (isRefusal(error)) continue;
        throw new Error(what, { cause: error });
      }
      made++;
      expectChain(report, what);
      kinds.set(report.schedule.kind, (kinds.get(report.schedule.kind) ?? 0) + 1);
      const of = report.classLimit?.of ?? "none";
      classes.set(of, (classes.get(of) ?? 0) + 1);
    }
    expect(kinds.get("steps") ?? 0).toBeGreaterThan(seen(REPORTS / 4));
    expect(kinds.get("trees") ?? 0).toBeGreaterThan(seen(REPORTS / 20));
    for (const of of ["whole chunks", "forwarding switches", "none"])
      expect(classes.get(of) ?? 0, of).toBeGreaterThanOrEqual(seen(Math.floor(REPORTS / 650)));
  });

  it("is the same in compare, auto and synth", { timeout: 120_000 }, async () => {
    for (const [network, collective] of [
      ["mesh:3x3", "allreduce"],
      ["dgx-a100:2", "allgather"],
      ["switch:6", "alltoall"],
    ] as const) {
      const topology = presetTopology(network);
      const sizeBytes = 1 << 22;
      const options = { collective, sizeBytes };
      const { rows, limits } = await compare(engine, topology, { collective, sizesBytes: [sizeBytes] });
      const [limit] = limits as [(typeof limits)[number]];
      for (const { us, ofLimit, algorithm, chunks } of rows) {
        expect(ofLimit, algorithm).toBeLessThanOrEqual(1);
        expect(us, algorithm).toBeGreaterThanOrEqual(limit.limit.us);
        if (SOLVERS.includes(algorithm)) continue;
        const { report } = await synthesize(engine, topology, { ...options, algorithm, chunks });
        expect(report.time.us, algorithm).toBe(us);
        expect(report.limit.us, algorithm).toBeLessThanOrEqual(limit.limit.us);
      }
      const auto = await synthesize(engine, topology, { ...options, algorithm: "auto", timeLimitMs: 60_000 });
      expectChain(auto.report, network);
      for (const one of auto.report.auto?.tried ?? []) {
        expect(one.us).toBeGreaterThanOrEqual(auto.report.time.us);
        expect(one.ofLimit).toBeLessThanOrEqual(1);
      }
    }
  });

  describe("of the command line", () => {
    const { ends, json, put } = commandsHere();

    it("is the same in synth, simulate and bound", { timeout: 300_000 }, async () => {
      let made = 0;
      for (let i = 0; i < runs(60); i++) {
        const draws = random(7000 + i);
        const topology = drawnNetwork(draws);
        const { collective, sizeBytes, algorithm } = drawnRequest(draws);
        if (SOLVERS.includes(algorithm)) continue;
        const network = put(`network-${i}.json`, topologyToJson(topology));
        const asked = `--collective ${collective} --size ${Math.max(1, sizeBytes)}`;
        const file = `schedule-${i}.json`;
        const ended = await ends(`synth ${network} ${asked} --algorithm ${algorithm} -o ${file} --json`);
        if (ended.code === 2 || ended.code === 3) continue;
        expect(ended.code, ended.err).toBe(0);
        made++;
        const report = JSON.parse(ended.out) as Report;
        expectChain(report, ended.out);
        const simulated = (await json(`simulate ${file}`)) as Chain;
        expectChain(simulated, file);
        expect(simulated.time).toEqual(report.time);
        expect(simulated.limit.us).toBeLessThanOrEqual(report.limit.us);
        const bound = (await json(`bound ${network} ${asked}`)) as Chain;
        expect(bound.limit.us).toBeLessThanOrEqual(report.time.us);
      }
      expect(made).toBeGreaterThan(seen(20));
    });
  });
});
