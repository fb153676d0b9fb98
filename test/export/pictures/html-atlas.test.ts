import { describe, expect, it } from "vitest";
import { atlasPage } from "../../../src/export/pictures/html-atlas.ts";
import type { AtlasClass, AtlasIndex, AtlasSchedule } from "../../../src/model/atlas/atlas-index.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { poolOf } from "../../../src/model/topology/failure-sets.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";

const schedule = (us: number): AtlasSchedule => ({
  us,
  algbwGBps: 1000 / us,
  throughputGBps: null,
  limitUs: us * 0.9,
  ofLimit: 0.9,
  because: "a cut <of> links & nodes",
  algorithm: "ring",
  file: "schedules/ab/cd",
  sha256: "abcd",
  bytes: 1_234_567,
});

const classOf = (failed: string[], us: number | null, rest: Partial<AtlasClass> = {}): AtlasClass => ({
  failed,
  on: [],
  status: us === null ? "impossible" : "done",
  why: us === null ? "NPU 0 cannot reach NPU 1" : null,
  schedule: us === null ? null : schedule(us),
  slower: us === null ? null : us / 100,
  limitRose: us === null ? null : us / 100,
  kept: us === null ? null : { what: "trees", kept: 3, of: 4 },
  keptNote: null,
  ...rest,
});

/** Every cable is of class 0, every switch leaves no way, and a second failure is worse. */
function pageOf(topology: Topology): string {
  const links = poolOf(topology, "links", "links");
  const switches = topology.nodeNames.slice(topology.npuCount);
  const [first, second] = links as [string, string];
  const classes = [
    classOf([first], 115),
    classOf([switches[0] ?? "0"], null),
    classOf([first, second].sort(), 150, { on: [first] }),
  ];
  const failures = Object.fromEntries([...links.map((name) => [name, 0]), ...switches.map((name) => [name, 1])]);
  const one = { healthy: schedule(100), classes, failures, further: { [first]: { [second]: 2 } } };
  const index: AtlasIndex = {
    schema: "banyan/atlas@1",
    version: "1.2.3",
    network: {
      ...{ name: topology.name, hash: "00", npus: topology.npuCount, switches: switches.length, links: links.length },
      ...{ file: "network.json", given: topology.name, options: {} },
    },
    making: { size: "1GiB", algorithm: "ring" },
    collectives: { allgather: one, allreduce: one },
  };
  return [...atlasPage(index, topology)].join("");
}

const dataOf = (page: string) =>
  JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1] as string);

describe.each([["dgx-a100:2"], ["mesh:4x4"], ["dgx-h100:128"], ["torus:16x16x16"]])(
  "the page of an atlas of %s",
  (name) => {
    const topology = presetTopology(name);
    const page = pageOf(topology);

    it("loads nothing, and has the ranking of each collective, the worst first", () => {
      expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
      expect(page).not.toMatch(/<(?:link|img|iframe)\b/);
      const tables = page.match(/<table>.*?<\/table>/gs) as string[];
      expect(tables).toHaveLength(2);
      for (const table of tables) {
        const harms = [...table.matchAll(/data-k="Slower by">.*?<\/i>([^<]*)</g)].map(([, text]) => text);
        expect(harms).toEqual(["no way", "+50 %", "+15 %"]);
        expect(table).toContain("a cut &lt;of&gt; links &amp; nodes");
        expect(table).toContain("3 of 4 trees");
        expect(table).toContain('<a href="schedules/ab/cd"');
      }
    });

    it("draws every cable and every switch, or the cell that it is in, with the colour of its harm", () => {
      const { names, marks, kinds } = dataOf(page);
      const drawn = new Set(
        [...page.matchAll(/data-m="(\d+)"/g)].flatMap(([, at]) => marks[Number(at)][1] as number[]),
      );
      expect(drawn.size).toBe(names.length);
      const { of, steps } = kinds.allgather;
      expect(steps).toEqual(["3", "x", "5"]);
      for (const [, step, at] of page.matchAll(/class="[wnb] h(.)" data-m="(\d+)"/g)) {
        const classes = (marks[Number(at)][1] as number[]).map((place) => of[place]);
        expect(step).toBe(classes.includes(1) ? "x" : classes.includes(0) ? "3" : "q");
      }
      expect(kinds.allgather.cards.map(({ name }: { name: string }) => name)[2]).toMatch(/ after /);
    });
  },
);

it("large networks are drawn by their boxes, and one box in full", () => {
  const page = pageOf(presetTopology("dgx-h100:128"));
  expect([...page.matchAll(/<div class="tools"><h2>([^<]*)</g)].map(([, heading]) => heading)).toEqual([
    ...["The whole network", "box0 in full"],
  ]);
  expect(page).toContain("127 more are alike");
  expect(page.match(/<path d="[^"]*" class="w/g)?.length).toBeLessThan(1100);
});
