import { existsSync, readdirSync, readFileSync } from "node:fs";
import { InputError } from "../src/base/errors.ts";
import { openEngine } from "../src/engine/engine.ts";
import { openHighs } from "../src/engine/milp/highs.ts";
import { readProgram } from "../src/import/programs/program.ts";
import type { NamedCollective } from "../src/model/collective/collective.ts";
import { presetTopology } from "../src/model/presets/preset.ts";
import type { Program } from "../src/model/program/program.ts";
import { programOf } from "../src/run/programs/programs.ts";
import { synthesizeForRuntime } from "../src/run/programs/programs-by-size.ts";
import { simulateProgram } from "../src/simulate/program/program.ts";
import { lowered, loweringCases, scheduleFor, TARGETS } from "../test/support/lowering-matrix.ts";

/** Every synthesizer and collective on 2 to 32 GPUs, odd numbers too: boxes with a switch, rings, fully connected. */
export const NETWORKS = [
  ...[2, 3, 4, 5, 7, 8, 16, 32].map((npus) => `switch:${npus}`),
  ...[2, 3, 5, 8, 16].map((npus) => `ring:${npus}`),
  ...["fc:7", "mesh:3x3", "dgx-a100:2", "dgx-h100:4", "mi250:1"],
];

/** What is loaded on first use cannot be loaded once `runnerImport` has returned. */
await openHighs();

/** Yields what became of every case of a network for every runtime. */
export async function* outcomes(network: string) {
  const engine = await openEngine();
  try {
    for (const found of loweringCases([network])) {
      const result = await scheduleFor(engine, found);
      if (result === null) continue;
      for (const target of TARGETS) yield lowered(found, result, target);
    }
  } finally {
    await engine.close();
  }
}

const TREES: readonly NamedCollective[] = ["allgather", "reducescatter", "allreduce"];

/** Yields thread blocks and steps per GPU of trees' programs, for each runtime, with the default number of copies. */
export async function* treeSizes() {
  const engine = await openEngine();
  try {
    for (const topology of ["dgx-a100:1", "dgx-a100:2", "dgx-h100:4", "mi250:1"]) {
      for (const collective of TREES) {
        const made = await scheduleFor(engine, { topology, collective, algorithm: "forestcoll" });
        if (made === null) continue;
        for (const runtime of ["msccl", "azure", "rccl", "mscclpp"] as const) {
          const { verification } = programOf(made.schedule, { runtime });
          const { mostBlocksPerRank, mostStepsPerBlock } = verification.facts;
          yield { topology, collective, runtime, blocks: mostBlocksPerRank, steps: mostStepsPerBlock };
        }
      }
    }
  } finally {
    await engine.close();
  }
}

const DATA = new URL("../../shared/data/msccl-xml/", import.meta.url);
const SIZES = [2 ** 20, 2 ** 26, 2 ** 30];
/** Programs of others, by what their names say, and the network that they are for. */
const OTHERS: readonly (readonly [name: RegExp, topology: string])[] = [
  [/a100x1/, "dgx-a100:1"],
  [/a100x2/, "dgx-a100:2"],
  [/mi250x1/, "mi250:1"],
  [/dgx1/, "dgx1"],
  [/n16-DGX2/, "dgx2:1"],
  [/n32-DGX2/, "dgx2:2"],
  [/ndv2|NDv2/, "ndv2:1"],
];

/** Returns simulated GB/s at each size; null where the program does not end there. */
const speeds = (program: Program, topology: string): (number | null)[] =>
  SIZES.map((sizeBytes) => {
    try {
      return (1000 * sizeBytes) / simulateProgram(program, presetTopology(topology), { sizeBytes }).ps;
    } catch (error) {
      if (error instanceof InputError) return null;
      throw error;
    }
  });

/** Yields algbw at 1 MiB, 64 MiB and 1 GiB of others' programs, and of ours for the same runtime made for that size. */
export async function* comparisons() {
  if (!existsSync(DATA)) return;
  const engine = await openEngine();
  const ours = new Map<string, (number | null)[]>();
  try {
    for (const name of readdirSync(DATA).filter((file) => file.endsWith(".xml"))) {
      const topology = OTHERS.find(([pattern]) => pattern.test(name))?.[1];
      if (topology === undefined) continue;
      const program = readProgram(readFileSync(new URL(name, DATA), "utf8"), name);
      const collective = program.collective as NamedCollective;
      const key = `${topology} ${collective}`;
      if (!ours.has(key)) {
        const algorithm = TREES.includes(collective) ? "forestcoll" : "tacos";
        const made: (number | null)[] = [];
        for (const sizeBytes of SIZES) {
          const request = { collective, algorithm, sizeBytes };
          const { us } = await synthesizeForRuntime(engine, presetTopology(topology), request, { runtime: "azure" });
          made.push(sizeBytes / us / 1000);
        }
        ours.set(key, made);
      }
      yield { name, topology, collective, theirs: speeds(program, topology), ours: ours.get(key) ?? [] };
    }
  } finally {
    await engine.close();
  }
}
