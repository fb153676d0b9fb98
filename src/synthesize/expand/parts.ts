import type { Construction } from "../../model/direct/construction.ts";
import { sizeOf } from "../../model/direct/graph-of.ts";
import type { Base } from "../../model/direct/predict.ts";
import { lcm } from "../../model/numbers/integers.ts";
import { bestParts } from "../bfb/parts.ts";
import type { Bases } from "./bases.ts";

/** Pieces in which copies receive each other's shards: the ports of a node of the expanded graph (Zhao 2026, definition 2). */
const piecesOf = (construction: Extract<Construction, { kind: "degree" }>): number =>
  construction.factor === 1 ? 1 : sizeOf(construction).degree;

/** Returns what the parts of a shard must be a multiple of, so that expansions can cut it. O(size of the construction). */
export function granularity(wanted: Base, bases: Bases): number {
  const { construction, turned } = wanted;
  const below = (base: Construction, turn = turned): number => granularity({ construction: base, turned: turn }, bases);
  switch (construction.kind) {
    case "family":
    case "product":
      return bases.tabulated(wanted)?.parts ?? 1;
    case "line":
      return below(construction.base);
    case "transpose":
      return below(construction.base, !turned);
    case "degree":
      return lcm(below(construction.base), piecesOf(construction));
    case "power":
      return construction.exponent * below(construction.base);
    case "bidirectional":
      return 2 * lcm(below(construction.base, false), below(construction.base, true));
  }
}

/**
 * Returns the parts of a shard with which the schedule of the expansions takes least: a multiple of the granularity in which
 * loads of BFB schedules are whole, or nearly so where these would be more than `most`.
 */
export async function ownParts(wanted: Base, bases: Bases, most: number): Promise<number> {
  const { construction, turned } = wanted;
  const below = (base: Construction, share: number, turn = turned): Promise<number> =>
    ownParts({ construction: base, turned: turn }, bases, Math.max(1, Math.floor(most / share)));
  switch (construction.kind) {
    case "family":
    case "product":
      return bases.tabulated(wanted)?.parts ?? bestParts(await bases.loads(wanted), most);
    case "line":
      return below(construction.base, 1);
    case "transpose":
      return below(construction.base, 1, !turned);
    case "degree": {
      const pieces = piecesOf(construction);
      return lcm(await below(construction.base, pieces), pieces);
    }
    case "power":
      return construction.exponent * (await below(construction.base, construction.exponent));
    case "bidirectional":
      return 2 * lcm(await below(construction.base, 2, false), await below(construction.base, 2, true));
  }
}
