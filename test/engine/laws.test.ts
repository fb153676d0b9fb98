import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import type { Transfers } from "../../src/engine/contract/kernels.ts";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import { allGather, mesh, networkOf, relayOf } from "../support/networks.ts";
import { brokenMatchLaws, brokenRelayLaws } from "../support/transfer-laws.ts";

/** The judge of the kernels' tests, judged: it accepts good answers and flags every spoilt one. */

type Spoil = (columns: Transfers, at: number) => Transfers;

const without: Spoil = ({ chunk, route, startPs }, at) => ({
  chunk: chunk.filter((_, i) => i !== at),
  route: route.filter((_, i) => i !== at),
  startPs: startPs.filter((_, i) => i !== at),
});
const earlier: Spoil = (columns, at) => ({
  ...columns,
  startPs: columns.startPs.map((t, i) => (i === at ? t - 1 : t)),
});
const otherChunk: Spoil = (columns, at) => ({
  ...columns,
  chunk: columns.chunk.map((c, i) => (i === at ? (c + 1) % 9 : c)),
});
const otherRoute: Spoil = (columns, at) => ({
  ...columns,
  route: columns.route.map((r, i) => (i === at ? (r + 1) % 24 : r)),
});

// A 3x3 mesh with one slot length: every transfer starts when a route or a chunk becomes free, so none may start earlier.
const network = mesh(3, 3);
const gather = allGather(network);
const relay = relayOf(
  network,
  Array.from({ length: 9 }, (_, v) => [v, 8 - v] as const),
);
const gathered = jsKernels.match(gather);
const relayed = jsKernels.relay(relay) as Transfers;

describe("the laws of transfers", () => {
  it("accept what the kernels give", () => {
    expect(brokenMatchLaws(gather, gathered)).toEqual([]);
    expect(brokenRelayLaws(relay, relayed)).toEqual([]);
  });

  it.each([
    ["is dropped", without],
    ["starts earlier", earlier],
    ["carries another chunk", otherChunk],
    ["takes another route", otherRoute],
  ] as const)("are broken when a transfer %s", (_, spoil) => {
    const generator = random(5);
    for (let i = 0; i < 60; i++) {
      const at = generator.below(gathered.chunk.length);
      expect(brokenMatchLaws(gather, spoil(gathered, at)), `transfer ${at}`).not.toEqual([]);
      const hop = generator.below(relayed.chunk.length);
      expect(brokenRelayLaws(relay, spoil(relayed, hop)), `hop ${hop}`).not.toEqual([]);
    }
  });

  it("are broken when two transfers share what only one may use", () => {
    const uses = [[0, 1]] as const;
    const routes = [1, 2].map((target) => ({ source: 0, target, slotPs: 10, uses }));
    const problem = {
      ...allGather(networkOf(3, routes, [1])),
      chunkCount: 1,
      heldOffset: Int32Array.of(0, 1, 1, 1),
      heldChunk: Int32Array.of(0),
    };
    const both = { chunk: Int32Array.of(0, 0), route: Int32Array.of(0, 1), startPs: Float64Array.of(0, 0) };
    expect(brokenMatchLaws(problem, both)).toEqual(["resource 0 is overused at 0"]);
    expect(brokenMatchLaws(problem, { ...both, startPs: Float64Array.of(0, 10) })).toEqual([]);
  });
});
