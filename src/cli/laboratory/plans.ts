import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { libraryPlan } from "../../export/programs/mpi-plan.ts";
import type { WantedPath } from "../../lab/paths.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import { formatSize, toUs } from "../../model/numbers/units.ts";
import { isNpu, type Topology } from "../../model/topology/topology.ts";
import { membershipOf, programOptions, synthesisOptions } from "../../request/from-texts.ts";
import { type Options, optionValue, textOf } from "../../request/option-table.ts";
import { progressOf } from "../../request/progress.ts";
import type { FolderFile } from "../../run/export/world.ts";
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

/** Plans, and the sizes that they are for, ascending. */
export interface Plans {
  readonly planned: readonly Planned[];
  readonly ranges: readonly SizeRange[];
}

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
): Promise<Plans> {
  const { options, signal } = context;
  const ranges = await withEngine(context, (engine) =>
    programsBySize(
      engine,
      topology,
      { ...asked(options), collective, sizesBytes, signal, onProgress: (step) => context.progress(progressOf(step)) },
      programOptions(options, "mpi"),
    ),
  );
  mkdirSync(folder);
  const files = filesOf(ranges);
  for (const { name, parts } of files) writeFileSync(join(folder, name), [...parts].join(""));
  return { planned: sizesBytes.map((sizeBytes) => planned(topology, ranges, sizeBytes)), ranges };
}

const filesOf = (ranges: readonly SizeRange[]): FolderFile[] =>
  ranges.map(({ made }, i) => ({ name: `${`${i}`.padStart(3, "0")}-${made.program.name}.plan`, parts: made.parts() }));

/**
 * Returns plans as a runtime is to have them: before them, for it takes the first that fits, files that leave the sizes at which
 * the library was faster to it. Between two sizes of which one is left to it, the geometric mean decides.
 */
export function keptFiles({ planned: sizes, ranges }: Plans, isLeft: (sizeBytes: number) => boolean): FolderFile[] {
  const borders = sizes.slice(1).map(({ sizeBytes }, i) => Math.ceil(Math.sqrt(sizes[i].sizeBytes * sizeBytes)));
  const left = sizes.flatMap(({ sizeBytes }, i) => {
    if (!isLeft(sizeBytes)) return [];
    const { program } = rangeOf(ranges, sizeBytes).made;
    const range = { minBytes: borders[i - 1] ?? 0, maxBytes: (borders[i] ?? Infinity) - 1 };
    const name = `library-${formatSize(sizeBytes).replaceAll(" ", "")}`;
    return [{ name: `${LEFT}${`${i}`.padStart(3, "0")}-${name}.plan`, parts: [libraryPlan(program, name, range)] }];
  });
  return [...left, ...filesOf(ranges)];
}

/** What names of files begin with that leave calls to the library: before digits. */
const LEFT = "+";

function asked(options: Options) {
  const named = textOf(options, "algorithm");
  const algorithm = named === undefined ? AUTO : algorithmOrAuto(named);
  const { algorithm: _, ...synthesis } = synthesisOptions(options);
  return { ...membershipOf(options), ...synthesis, ...(algorithm === AUTO ? {} : { algorithms: [algorithm] }) };
}

const rangeOf = (ranges: readonly SizeRange[], sizeBytes: number): SizeRange =>
  ranges.find(
    ({ minBytes, maxBytes }) => minBytes <= sizeBytes && (maxBytes === null || sizeBytes <= maxBytes),
  ) as SizeRange;

function planned(topology: Topology, ranges: readonly SizeRange[], sizeBytes: number): Planned {
  const range = rangeOf(ranges, sizeBytes);
  const { ps } = simulateProgram(range.made.program, topology, { sizeBytes });
  const { algorithm, made } = range;
  return { sizeBytes, algorithm, rootRank: made.program.rootRank, predictedSeconds: toUs(ps) / 1e6 };
}

/** Returns the sizes that are asked for. */
export const sizesAsked = (options: Options): readonly number[] =>
  [...new Set(optionValue(options, "sizes") ?? [2 ** 20, 2 ** 22, 2 ** 24])].sort((one, other) => one - other);
