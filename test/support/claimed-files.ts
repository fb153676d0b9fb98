import { openEngine } from "../../src/engine/engine.ts";
import { judgeIndependently, NoSchedule } from "../../src/independent/independent.ts";
import { kindOf } from "../../src/kinds/kinds.ts";
import { collective } from "../../src/model/collective/collective.ts";
import type { GivenSchedule } from "../../src/model/joint/joint-schedule.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { without } from "../../src/model/topology/modify.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { toldOf } from "../../src/report/claims.ts";
import type { JointReport } from "../../src/report/joint-result.ts";
import type { Report } from "../../src/report/result.ts";
import type { SynthesizeOptions } from "../../src/request/options.ts";
import type { CollectiveOptions } from "../../src/request/problem.ts";
import { synthesizeJoint } from "../../src/run/joint.ts";
import { synthesize } from "../../src/run/synthesize.ts";

/** Schedule files with claims, as `synth -o FILE.json` writes them. */

export interface ClaimedFile {
  readonly name: string;
  readonly text: string;
}

const engine = await openEngine({ threads: 0 });
const MIB = 2 ** 20;

const textOf = (schedule: GivenSchedule, report: Report | JointReport): string =>
  [...kindOf(schedule).forms.json.parts(toldOf(report))].join("");

async function made(network: Topology | string, options: SynthesizeOptions): Promise<string> {
  const topology = typeof network === "string" ? presetTopology(network) : network;
  const { schedule, report } = await synthesize(engine, topology, { sizeBytes: MIB, ...options });
  return textOf(schedule, report);
}

/** Returns trees of an all-reduce that claim what their certificate proves of those that sum each byte at one NPU. */
async function certified(preset: string): Promise<string> {
  const asked = { collective: "allreduce", algorithm: "forestcoll", sizeBytes: 1e9 } as const;
  const { schedule, report } = await synthesize(engine, presetTopology(preset), asked);
  const { bound } = report.throughput as NonNullable<Report["throughput"]>;
  const classLimit = { ...bound, of: "sums at one NPU", holdsFor: "each byte summed at one NPU" } as const;
  return textOf(schedule, { ...report, classLimit });
}

async function together(preset: string, collectives: readonly CollectiveOptions[]): Promise<string> {
  const { schedule, report } = await synthesizeJoint(engine, presetTopology(preset), { collectives });
  return textOf(schedule, report);
}

/** Two boxes of unequal links behind switches, links one way among them. */
function crooked(): Topology {
  const builder = topologyBuilder("crooked");
  for (let npu = 0; npu < 6; npu++) builder.addNpu(`n${npu}`);
  for (const hub of ["left", "right", "spine"]) builder.addSwitch(hub);
  for (let npu = 0; npu < 6; npu++) builder.addDuplex(npu, npu < 3 ? 6 : 7, 3e9 + 1e9 * (npu % 2), 700 * npu);
  for (const hub of [6, 7]) builder.addDuplex(hub, 8, 5e9, 333_333);
  builder.addLink(0, 4, 7e9, 10);
  builder.addLink(5, 1, 1e9, 0);
  return builder.build();
}

/** Every other NPU gets what its neighbour has, some chunks go to several. */
function custom(npus: number, reduces: boolean) {
  const sets = Array.from({ length: npus }, (_, c) =>
    [c, (c + 1) % npus, (3 * c + 2) % npus].filter((v, i, all) => all.indexOf(v) === i).sort((a, b) => a - b),
  );
  const offset = [0];
  for (const set of sets) offset.push((offset.at(-1) as number) + set.length);
  const one = { kind: "one", npu: Int32Array.from(sets.keys()) } as const;
  const several = { kind: "sets", offset: Int32Array.from(offset), members: Int32Array.from(sets.flat()) } as const;
  const [pre, post] = reduces ? [several, one] : [one, several];
  const like = collective({
    kind: "allgather",
    groups: [Int32Array.from(sets.keys())],
    sizeBytes: 12_345 * npus,
    chunksPerNpu: 1,
    rootRank: 0,
  });
  return { ...like, kind: "custom" as const, reduces, pre, post };
}

const STEPS: readonly (readonly [network: string, options: SynthesizeOptions])[] = [
  ["mesh:3x3", { collective: "allgather" }],
  ["torus:3x4", { collective: "allreduce", chunks: 2 }],
  ["mesh:4x4", { collective: "reducescatter", sizeBytes: 1e9 }],
  ["mesh:2x3", { collective: "broadcast", chunks: 6, root: 2 }],
  ["mesh:3x3", { collective: "reduce", chunks: 3 }],
  ["hypercube:3", { collective: "gather", sizeBytes: 12_345 }],
  ["torus:2x4", { collective: "scatter", chunks: 3, root: 3 }],
  ["mesh:2x4", { collective: "alltoall" }],
  ["ring:6", { collective: "alltoall", algorithm: "mcf" }],
  ["ring:8", { collective: "allreduce", algorithm: "ring" }],
  ["dgx-a100:1", { collective: "allreduce", algorithm: "rhd" }],
  ["dgx-h100:2", { collective: "allgather", algorithm: "direct", sizeBytes: 1e9 }],
  ["dgx-a100:2", { collective: "allreduce", algorithm: "nccl-rings" }],
  ["torus:3x3", { collective: "allgather", algorithm: "bfb" }],
  ["mesh:4x4", { collective: "allgather", group: "0,1,4,5;10,11,14,15" }],
  ["fc:5", { collective: "allreduce", algorithm: "dbt", sizeBytes: 1001 }],
  ["mesh:3x3", { collective: "allgather", switching: "store-and-forward" }],
  ["torus:4x4", { collective: "allreduce", algorithm: "themis", chunks: 4 }],
  ["torus:4x4x4", { collective: "allgather", sizeBytes: 64 * MIB }],
  ["mi250:1", { collective: "allgather", algorithm: "tacos" }],
  ["dgx-h100:2", { collective: "allgather" }],
  ["L(K(2,2))", { collective: "alltoall", sizeBytes: 2 ** 30 }],
  ["mi250:1", { collective: "allreduce", algorithm: "rings", sizeBytes: 2 ** 30 }],
];

const TREES: readonly (readonly [network: string, options: SynthesizeOptions])[] = [
  ["mesh:3x3", { collective: "allgather" }],
  ["dgx-a100:2", { collective: "allreduce", sizeBytes: 64 * MIB }],
  ["torus:4x4", { collective: "reducescatter" }],
  ["mi250:1", { collective: "allreduce", sizeBytes: 1e9 }],
  ["mesh:2x3", { collective: "broadcast", root: 1 }],
  ["dgx-h100:1", { collective: "allreduce" }],
  ["dgx-h100:2", { collective: "reduce", root: 1 }],
];

/** Returns files of every kind: so many of them in all. */
export async function claimedFiles(): Promise<ClaimedFile[]> {
  const named = (kind: string, network: string, { collective: what, algorithm = "" }: SynthesizeOptions): string =>
    `${kind} ${network} ${typeof what === "string" ? what : "custom"} ${algorithm}`.trim();
  const files: ClaimedFile[] = [];
  const add = (name: string, text: string): void => {
    files.push({ name, text });
  };
  for (const [network, options] of STEPS) add(named("steps", network, options), await made(network, options));
  for (const [network, options] of TREES)
    add(named("trees", network, options), await made(network, { ...options, algorithm: "forestcoll" }));
  for (const preset of ["mi250:1", "dgx-a100:2"]) add(`trees certified ${preset}`, await certified(preset));
  add("trees in switches", await made("dgx-h100:2", { collective: "allreduce", algorithm: "nvls", sizeBytes: 1e9 }));
  add(
    "phases",
    await made("themis:3d-sw-sw-sw-homo", { collective: "allreduce", algorithm: "themis", chunks: 8, sizeBytes: 1e9 }),
  );
  const offloading = {
    collective: "allreduce",
    algorithm: "themis",
    offload: true,
    chunks: 8,
    sizeBytes: 1e8,
  } as const;
  const two = "0,1,2,3,16,17,18,19;8,9,10,11,24,25,26,27";
  add("phases of two groups", await made("switch:4,sum*switch:4,sum*switch:2", { ...offloading, group: two }));
  const halves = "0,2,4,6;1,3,5,7";
  add("phases of parts", await made("switch:8,sum*switch:2", { ...offloading, group: halves }));
  add(
    "trees of groups at once",
    await made("ring:6@60GB/s,1us", { collective: "allreduce", algorithm: "forestcoll", group: "0,1;5,2", chunks: 2 }),
  );
  const cut = without(presetTopology("torus:4x4"), ["0-1"]);
  add(
    "steps of phases around a failed link",
    await made(cut, { collective: "allreduce", algorithm: "themis", chunks: 2 }),
  );
  add("steps crooked", await made(crooked(), { collective: "allreduce", algorithm: "direct" }));
  add("steps crooked gather", await made(crooked(), { collective: "allgather", chunks: 2 }));
  for (const kind of ["alltoall", "scatter"] as const)
    add(`steps crooked ${kind}`, await made(crooked(), { collective: kind, sizeBytes: 1e8 }));
  add("trees crooked", await made(crooked(), { collective: "allgather", algorithm: "forestcoll" }));
  const failed = without(presetTopology("mesh:4x4"), ["5>6", "6>5", "15"]);
  add("steps of failed links", await made(failed, { collective: "allgather" }));
  add("trees of failed links", await made(failed, { collective: "allreduce", algorithm: "forestcoll" }));
  for (const reduces of [false, true])
    add(`custom ${reduces ? "sums" : "copies"}`, await made("mesh:2x3", { collective: custom(6, reduces) }));
  add(
    "together",
    await together("mesh:3x3", [
      { collective: "allgather", sizeBytes: MIB },
      { collective: "broadcast", sizeBytes: 3 * MIB, chunks: 4, root: 2 },
    ]),
  );
  add(
    "together sums",
    await together("torus:3x3", [
      { collective: "reduce", sizeBytes: MIB, root: 4 },
      { collective: "alltoall", sizeBytes: 9000 },
      { collective: "allgather", sizeBytes: 1e6, group: "0,4,8" },
    ]),
  );
  return files;
}

// biome-ignore lint/suspicious/noExplicitAny: parsed files, changed by path.
export type Json = any;

/** Returns what the independent judge says of a text: its verdicts by claim, or that it is no schedule. */
export function opinionOf(text: string): Readonly<Record<string, string>> | string {
  try {
    return Object.fromEntries(
      judgeIndependently(text).findings.map(({ claim, verdict, because }) => [
        claim,
        verdict === "checked" ? verdict : `${verdict}: ${because}`,
      ]),
    );
  } catch (error) {
    if (error instanceof NoSchedule) return `no schedule: ${error.message}`;
    throw error;
  }
}
