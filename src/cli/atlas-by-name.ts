import { join } from "node:path";
import { type AtlasClass, type AtlasIndex, foundByName } from "../model/atlas/atlas-index.ts";
import { readyFile } from "./files/atlas-folder.ts";
import { type LookupAnswer, type LookupResult, resultOf } from "./reports/lookup-report.ts";

/**
 * Returns the answer of a lookup where the index has the failure by name for every collective, and, where schedules are wanted, their
 * files are there; else null. Reads nothing but whether files are there.
 */
export function answerByName(
  index: AtlasIndex,
  folder: string,
  names: readonly string[],
  kinds: readonly string[],
  isWanted: boolean,
): LookupAnswer | null {
  const results: Record<string, LookupResult> = {};
  let failed = names;
  for (const kind of kinds) {
    const collective = index.collectives[kind];
    const found = collective === undefined ? null : foundByName(collective, names);
    if (collective === undefined || found === null) return null;
    const one = collective.classes[found.at] as AtlasClass;
    const ready = readyFile(folder, one, found.failed);
    if (isWanted && ready === null && one.schedule !== null) return null;
    failed = found.failed;
    results[kind] = resultOf(collective, one, ready === null ? null : { ...ready, file: join(folder, ready.file) });
  }
  if (kinds.length === 0) return null;
  return {
    schema: "banyan/atlas-lookup@1",
    folder,
    network: index.network.name,
    failed,
    results,
    add: null,
    alone: {},
  };
}
