import { afterAll, beforeAll, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/types.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { RuntimeName } from "../../../src/model/program/runtime-names.ts";
import { compare } from "../../../src/run/compare.ts";
import { synthesizeForRuntime } from "../../../src/run/programs/programs-by-size.ts";
import { ALGORITHMS } from "../../../src/synthesize/catalog.ts";
import { plainEngine } from "../../support/lowering-cases.ts";
import { quick } from "../../support/runs.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());

const TARGETS: readonly (readonly [string, RuntimeName])[] = [
  ["dgx-h100:1", "azure"],
  ["dgx-h100:1", "mscclpp"],
  ["mi300x", "rccl"],
  ["ring:4", "mpi"],
  ["ring:4", "msccl"],
];
const CASES = quick(
  TARGETS.flatMap(([network, target]) =>
    (["allreduce", "allgather"] as const).map((collective) => ({ network, target, collective })),
  ),
  ({ network }) => network === "ring:4",
);

it.each(CASES)(
  "a library takes as long by itself in comparisons as beside programs: $collective on $network, $target",
  async ({ network, target, collective }) => {
    const topology = presetTopology(network);
    const algorithms = ALGORITHMS.filter((one) => one.traits?.library && one.collectives.includes(collective));
    const sizesBytes = [2 ** 16, 2 ** 26];
    const { rows } = await compare(engine, topology, {
      collective,
      sizesBytes,
      target,
      algorithms: algorithms.map(({ name }) => name),
    });
    for (const sizeBytes of sizesBytes) {
      const own = rows.flatMap((row) =>
        row.sizeBytes === sizeBytes && row.libraryUs !== undefined
          ? [{ algorithm: row.algorithm, us: row.libraryUs }]
          : [],
      );
      const least = own.reduce((best, one) => (one.us < best.us ? one : best));
      const { library } = await synthesizeForRuntime(
        engine,
        topology,
        { collective, sizeBytes, algorithm: "direct" },
        { runtime: target },
      );
      expect(library, `${sizeBytes}`).toEqual(least);
    }
  },
);
