import * as fc from "fast-check";
import { expect, it } from "vitest";
import { InternalError } from "../../src/base/errors.ts";
import type { Kernels, MatchProblem, Transfers } from "../../src/engine/contract/kernels.ts";
import { type FoldedProblem, foldedAllGather, foldedProblems, mapColumns } from "../support/folded-problems.ts";
import { allGather, mesh } from "../support/networks.ts";
import { runs } from "../support/runs.ts";
import { brokenMatchLaws } from "../support/transfer-laws.ts";

/** Returns the transfers to NPUs that `counts` as "start length chunk source target", ends and chunks taken by the map; sorted. */
function taken(
  { problem }: FoldedProblem,
  { chunk, route, startPs }: Transfers,
  map: Int32Array,
  counts: (npu: number) => boolean,
): string[] {
  const { routeSource, routeTarget, slotPs, npuCount } = problem.network;
  const each = problem.chunkCount / npuCount;
  return [...chunk.keys()]
    .filter((row) => counts(routeTarget[route[row]]))
    .map((row) => {
      const r = route[row];
      const image = map[Math.floor(chunk[row] / each)] * each + (chunk[row] % each);
      return `${startPs[row]} ${slotPs[r]} ${image} ${map[routeSource[r]]} ${map[routeTarget[r]]}`;
    })
    .sort();
}

/** Fails unless the transfers are lawful and, to NPUs that no map leaves in place, the same under all maps. */
function expectSymmetric(folded: FoldedProblem, transfers: Transfers): void {
  expect(brokenMatchLaws(folded.problem, transfers)).toEqual([]);
  const { maps } = folded;
  const moves = (npu: number): boolean => maps.every((map, g) => g === 0 || map[npu] !== npu);
  const plain = taken(folded, transfers, maps[0] as Int32Array, moves);
  for (const map of maps) expect(taken(folded, transfers, map, moves)).toEqual(plain);
}

const end = ({ problem }: FoldedProblem, { route, startPs }: Transfers): number =>
  route.reduce((latest, r, row) => Math.max(latest, startPs[row] + problem.network.slotPs[r]), 0);

/** What every backend's event-driven matching must do with maps of a network onto itself. */
export function foldedContract(kernels: Kernels): void {
  it("is lawful and the same under the maps it is given, on random networks of several speeds", () => {
    fc.assert(
      fc.property(foldedProblems, (folded) => {
        expectSymmetric(folded, kernels.match({ ...folded.problem, maps: mapColumns(folded.maps) }));
      }),
      { numRuns: runs(300) },
    );
  });

  it.each([
    [6, 6, 1000, 1500],
    [7, 5, 1500, 1000],
    [9, 9, 3000, 700],
    [8, 8, 1000, 1000],
  ])("takes no longer on the %i x %i mesh of %i and %i ps with all its symmetries", (width, height, slotX, slotY) => {
    const policy = { novelty: 1, overtaking: 1 };
    const folded = foldedAllGather(allGather(mesh(width, height, slotX, slotY), 1, policy));
    const symmetric = kernels.match({ ...folded.problem, maps: mapColumns(folded.maps) });
    expectSymmetric(folded, symmetric);
    expect(folded.maps.length).toBe(slotX === slotY ? 8 : 4);
    expect(end(folded, symmetric)).toBeLessThanOrEqual(end(folded, kernels.match(folded.problem)));
  });

  const problem = allGather(mesh(2, 2));
  const flips = mapColumns([Int32Array.of(0, 1, 2, 3), Int32Array.of(1, 0, 3, 2)]);
  const uneven = mesh(2, 2).slotPs.map((slot, route) => (route === 0 ? 7 : slot));
  it.each<[string, Partial<MatchProblem>]>([
    ["no maps at all in their column", { maps: new Int32Array(0) }],
    ["maps of another length", { maps: flips.slice(0, 7) }],
    ["maps that do not begin with the identity", { maps: flips.slice(4) }],
    ["a map out of range", { maps: Int32Array.of(0, 1, 2, 3, 1, 0, 3, 4) }],
    ["a map that leads two NPUs to one", { maps: Int32Array.of(0, 1, 2, 3, 1, 1, 3, 2) }],
    ["a map that does not take routes to routes", { maps: Int32Array.of(0, 1, 2, 3, 0, 1, 3, 2) }],
    ["a map that takes routes to longer ones", { maps: flips, network: { ...problem.network, slotPs: uneven } }],
    ["maps with a choice besides the oldest", { maps: flips, policy: { ...problem.policy, choice: 2 } }],
    ["maps where some want a part", { maps: flips, wanted: Uint32Array.of(15, 15, 15, 7) }],
    ["maps that change how much is held", { maps: flips, heldOffset: Int32Array.of(0, 2, 2, 3, 4) }],
  ])("refuses %s", (_, change) => {
    expect(kernels.match({ ...problem, maps: flips }).chunk.length).toBe(12);
    expect(() => kernels.match({ ...problem, ...change })).toThrow(InternalError);
  });
}
