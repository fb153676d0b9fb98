import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WantedPath } from "../../lab/paths.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import { toUs } from "../../model/numbers/units.ts";
import { isNpu, type Topology } from "../../model/topology/topology.ts";
import { membershipOf, programOptions, synthesisOptions } from "../../request/from-texts.ts";
import { type Options, optionValue, textOf } from "../../request/option-table.ts";
import { progressOf } from "../../request/progress.ts";
import { programsBySize, type SizeRange } from "../../run/programs/programs-by-size.ts";
import { simulateProgram } from "../../simulate/program/program.ts";
import { programRoutes } from "../../simulate/program/routes.ts";
import { AUTO, algorithmOrAuto } from "../../synthesize/catalog.ts";
import type { Context } from "../context.ts";
import { withEngine } from "../engine.ts";

/** A plan for one size, and what it is predicted to take. */
export interface Planned {
  readonly sizeBytes: number;
  readonly algorithm: string;
  readonly rootRank: number;
  readonly predictedSeconds: number;
}

/** Messages go in pieces that MPI sends at once: of more than 64 KiB with its header the receiver is asked first. */
const SEGMENT_BYTES = 49_152;

/** Returns the ways that plans' messages are simulated on: those of pairs with no other NPU between. O(NPUs^2 x links). */
export function simulatedPaths(topology: Topology): WantedPath[] {
  const { npuCount, linkTarget } = topology;
  const routes = programRoutes(topology);
  const found: WantedPath[] = [];
  for (let source = 0; source < npuCount; source++)
    for (let target = 0; target < npuCount; target++) {
      if (source === target) continue;
      const nodes = [source, ...Array.from(routes.between(source, target, target), (link) => linkTarget[link])];
      if (nodes.slice(1, -1).every((node) => !isNpu(topology, node))) found.push({ nodes, bytes: 1 });
    }
  return found;
}

/**
 * Writes plans for some sizes to a new folder, made for the laboratory as it is predicted to work, and returns what they are
 * predicted to take. Throws as programsBySize does.
 */
export async function writePlans(
  context: Context,
  topology: Topology,
  collective: NamedCollective,
  { sizesBytes, folder }: { readonly sizesBytes: readonly number[]; readonly folder: string },
): Promise<Planned[]> {
  const { options, signal } = context;
  const ranges = await withEngine(context, (engine) =>
    programsBySize(
      engine,
      topology,
      { ...asked(options), collective, sizesBytes, signal, onProgress: (step) => context.progress(progressOf(step)) },
      { ...programOptions(options, "mpi"), segmentBytes: SEGMENT_BYTES },
    ),
  );
  mkdirSync(folder);
  for (const [i, { made }] of ranges.entries())
    writeFileSync(join(folder, `${`${i}`.padStart(3, "0")}.plan`), [...made.parts()].join(""));
  return sizesBytes.map((sizeBytes) => planned(topology, ranges, sizeBytes));
}

function asked(options: Options) {
  const named = textOf(options, "algorithm");
  const algorithm = named === undefined ? AUTO : algorithmOrAuto(named);
  const { algorithm: _, ...synthesis } = synthesisOptions(options);
  return { ...membershipOf(options), ...synthesis, ...(algorithm === AUTO ? {} : { algorithms: [algorithm] }) };
}

function planned(topology: Topology, ranges: readonly SizeRange[], sizeBytes: number): Planned {
  const range = ranges.find(
    ({ minBytes, maxBytes }) => minBytes <= sizeBytes && (maxBytes === null || sizeBytes <= maxBytes),
  ) as SizeRange;
  const { ps } = simulateProgram(range.made.program, topology, { sizeBytes });
  const { algorithm, made } = range;
  return { sizeBytes, algorithm, rootRank: made.program.rootRank, predictedSeconds: toUs(ps) / 1e6 };
}

/** Returns the sizes that are asked for. */
export const sizesAsked = (options: Options): readonly number[] =>
  [...new Set(optionValue(options, "sizes") ?? [2 ** 20, 2 ** 22, 2 ** 24])].sort((one, other) => one - other);
