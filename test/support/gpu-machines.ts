import { readFileSync } from "node:fs";
import { beforeAll, expect, it } from "vitest";
import type { Kernels } from "../../src/engine/contract/kernels.ts";
import type { TopologyOptions } from "../../src/import/networks/topology-options.ts";
import { linkCount, linkNames, switchCount, type Topology } from "../../src/model/topology/topology.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { availableKernels } from "./backends.ts";
import { sharedFiles, sharedText } from "./shared-data.ts";
import { synthesizeWith, wholeCollective } from "./synthesis.ts";

/** What the tests of readers of GPU machines have in common. */

export const fixtureText = (name: string): string =>
  readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8");

/** Returns NPUs, switches, links and the sum of bandwidths in GB/s. */
export const summaryOf = (topology: Topology): [number, number, number, number] => [
  topology.npuCount,
  switchCount(topology),
  linkCount(topology),
  topology.linkBytesPerSecond.reduce((sum, rate) => sum + rate, 0) / 1e9,
];

/** Returns every link as "a>b 25", in GB/s, in order. */
export const linkList = (topology: Topology): string[] =>
  linkNames(topology).map((name, link) => `${name} ${topology.linkBytesPerSecond[link] / 1e9}`);

/** Fails unless every node reaches every other. */
export function expectConnected({ nodeNames, linkSource, linkTarget }: Topology): void {
  for (const [from, to] of [
    [linkSource, linkTarget],
    [linkTarget, linkSource],
  ]) {
    const reached = new Set([0]);
    for (let before = 0; before < reached.size; ) {
      before = reached.size;
      for (let link = 0; link < from.length; link++) if (reached.has(from[link])) reached.add(to[link]);
    }
    expect(nodeNames.filter((_, node) => !reached.has(node))).toEqual([]);
  }
}

/** Fails unless a synthesized all-gather on the network is verified. */
async function expectGather(kernels: Kernels, topology: Topology): Promise<void> {
  const collective = wholeCollective(topology, "allgather", topology.npuCount * 2 ** 20);
  const { schedule } = await synthesizeWith(kernels, { topology, collective, trials: 1 });
  expect(verifySchedule(schedule).violations).toEqual([]);
  expect(schedule.chunk.length).toBeGreaterThanOrEqual(topology.npuCount * (topology.npuCount - 1));
}

/** A real file, the options to read it with, and the summary of its network. */
export type RealFile = readonly [name: string, options: TopologyOptions, summary: readonly number[]];

/** Tests that a table has all files of a folder, that each is recognised, has its summary, and carries a verified all-gather. */
export function testRealFiles(
  folder: string,
  table: readonly RealFile[],
  looksLike: (text: string) => boolean,
  read: (text: string, name: string, options: TopologyOptions) => Topology,
): void {
  let kernels: Kernels;
  beforeAll(async () => {
    kernels = (await availableKernels())[0] as Kernels;
  });

  it("are all in the table", () => {
    expect([...new Set(table.map(([name]) => name))]).toEqual(sharedFiles(folder));
  });

  it.each(table)("%s %o", async (name, options, summary) => {
    const text = sharedText(`${folder}/${name}`);
    const topology = read(text, name, options);
    expect(looksLike(text)).toBe(true);
    expect(summaryOf(topology)).toEqual(summary);
    expectConnected(topology);
    await expectGather(kernels, topology);
  });
}

/** Returns the bandwidth from every node to every other, [nodes][nodes]. */
function rates({ nodeNames, linkSource, linkTarget, linkBytesPerSecond }: Topology): Float64Array[] {
  const matrix = nodeNames.map(() => new Float64Array(nodeNames.length));
  for (let link = 0; link < linkSource.length; link++) {
    matrix[linkSource[link]][linkTarget[link]] += linkBytesPerSecond[link];
  }
  return matrix;
}

/** Returns whether some renaming of nodes, NPUs to NPUs, makes the bandwidths of two small networks the same: by trying. */
export function isomorphic(a: Topology, b: Topology): boolean {
  const nodes = a.nodeNames.length;
  if (b.nodeNames.length !== nodes || a.npuCount !== b.npuCount) return false;
  const [from, to] = [rates(a), rates(b)];
  const image: number[] = [];
  const extend = (): boolean => {
    const node = image.length;
    if (node === nodes) return true;
    for (let other = 0; other < nodes; other++) {
      if (image.includes(other) || node < a.npuCount !== other < b.npuCount) continue;
      const fits = image.every((y, x) => from[node][x] === to[other][y] && from[x][node] === to[y][other]);
      if (!fits) continue;
      image.push(other);
      if (extend()) return true;
      image.pop();
    }
    return false;
  };
  return extend();
}
