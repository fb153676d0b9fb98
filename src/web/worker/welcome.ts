import type { Engine } from "../../engine/types.ts";
import { NETWORK_FORMATS } from "../../import/networks/network-formats.ts";
import { COLLECTIVE_KINDS, collectiveName, hasRoot } from "../../model/collective/collective.ts";
import { PRESETS } from "../../model/presets/preset.ts";
import { ALGORITHMS, isPhaseMaker, isTreeMaker } from "../../synthesize/catalog.ts";
import type { Welcome } from "../protocol.ts";
import { exportsOf } from "./export.ts";

/** Returns what there is to choose from. */
export function welcome(engine: Engine): Welcome {
  return {
    version: BANYAN_VERSION,
    backend: engine.backend,
    threads: engine.pool().threads,
    presets: PRESETS,
    collectives: COLLECTIVE_KINDS.map((kind) => ({ kind, name: collectiveName(kind), hasRoot: hasRoot(kind) })),
    algorithms: ALGORITHMS.map((algorithm) => ({
      name: algorithm.name,
      description: algorithm.description,
      makes: isTreeMaker(algorithm) ? "trees" : isPhaseMaker(algorithm) ? "phases" : "steps",
      collectives: algorithm.collectives,
      solves: "solves" in algorithm && algorithm.solves === true,
      policies: algorithm.policies,
    })),
    formats: NETWORK_FORMATS.map(({ name, description }) => ({ name, description })),
    exports: exportsOf(),
  };
}
