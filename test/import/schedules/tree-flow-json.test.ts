import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { scheduleToJson } from "../../../src/export/schedules/schedule-json.ts";
import { treeFlowJsonParts, treeFlowToJson } from "../../../src/export/schedules/tree-flow-json.ts";
import { readAnySchedule } from "../../../src/import/schedules/schedule-json.ts";
import { isTreeFlowJson, readTreeFlow } from "../../../src/import/schedules/tree-flow-json.ts";
import { rational } from "../../../src/model/numbers/rational.ts";
import { topologyHash } from "../../../src/model/topology/topology.ts";
import type { Certificate } from "../../../src/model/trees/tree-flow.ts";
import { judgeCertificate } from "../../../src/verify/trees/certificate.ts";
import { verifyTreeFlow } from "../../../src/verify/trees/tree-flow.ts";
import { anyTextChange, changedText } from "../../support/changed-text.ts";
import { garbled } from "../../support/garbled.ts";
import { boxTrees, HAND_MADE_TREES, ringAllReduceTrees, ringTrees, turnedRing } from "../../support/hand-made-trees.ts";
import { builtTrees, type PlainFlow } from "../../support/plain-trees.ts";
import { missing, outOfRange, type Refusal, refusalFrom, unexpected } from "../../support/refusals.ts";
import { ringSchedule } from "../../support/ring-schedule.ts";
import { runs, seen } from "../../support/runs.ts";
import { drawnFlows } from "../../support/tree-flow-cases.ts";
import { isRefused } from "../support.ts";

const DUAL: Certificate = {
  kind: "dual",
  cuts: [
    { nodes: Int32Array.of(0, 1), direction: "out", weight: rational(1, 2) },
    { nodes: new Int32Array(0), direction: "in", weight: rational(0) },
  ],
};

/** Flows of all kinds, with certificates of all kinds. */
const FLOWS = [
  ...Object.values(HAND_MADE_TREES),
  ...drawnFlows(60).map((flow, i): PlainFlow => ({ ...flow, certificate: i % 3 === 0 ? DUAL : flow.certificate })),
].map(builtTrees);

/** The file of a flow as a value that a test may change. */
// biome-ignore lint/suspicious/noExplicitAny: the tests break it in every way
const fileOf = (flow: PlainFlow): any => JSON.parse(treeFlowToJson(builtTrees(flow)));
/** Returns a change that puts a value (nothing: removes it) at a path such as `forests[0].trees[1].root`. */
const put =
  (path: string, value: unknown) =>
  (file: unknown): void => {
    const keys = path.split(/[.[\]]+/).filter((key) => key !== "");
    const last = keys.pop() as string;
    // biome-ignore lint/suspicious/noExplicitAny: any path
    const holder = keys.reduce((at: any, key) => at[key], file);
    holder[last] = value;
  };
const read = (value: unknown) => readTreeFlow(JSON.stringify(value), "t.json");

const RING = ringTrees(3);
const TURNED = turnedRing(3);
const REDUCED: PlainFlow = { ...ringAllReduceTrees(3), certificate: DUAL };

describe("readTreeFlow", () => {
  it("reads back what was written, for flows of all kinds", () => {
    for (const flow of FLOWS) {
      expect(readTreeFlow(treeFlowToJson(flow), "t.json")).toEqual(flow);
      expect(readAnySchedule(treeFlowToJson(flow, { note: "trees" }), "t.json")).toEqual(flow);
    }
  });

  it("writes a small file that people can read", () => {
    const text = treeFlowToJson(builtTrees(boxTrees()));
    expect(text.slice(text.indexOf('  "kind": "trees"'))).toBe(`  "kind": "trees",
  "collective": {
    "kind": "broadcast",
    "groups": [[0,1,2,3]],
    "rootRank": 0,
    "sizeBytes": 1000,
    "chunksPerNpu": 1
  },
  "chunks": { "count": 1, "bytes": "1000" },
  "k": 2,
  "concurrent": false,
  "symmetry": null,
  "certificate": { "kind": "cut", "direction": "out", "nodes": [0,1] },
  "forests": [
    {
      "direction": "out",
      "copyBytesPerSecond": "1000000000",
      "trees": [
        {"root":0,"copies":1,"edges":[0,[4,9],2]},
        {"root":0,"copies":1,"edges":[0,[6,11],3]}
      ]
    }
  ]
}
`);
  });

  it("writes many trees in small parts", () => {
    let longest = 0;
    let parts = 0;
    for (const part of treeFlowJsonParts(builtTrees(ringTrees(400)))) {
      longest = Math.max(longest, part.length);
      parts++;
    }
    expect(longest).toBeLessThan(70_000);
    expect(parts).toBeGreaterThan(8);
  });

  it("tells its files from others", () => {
    expect(isTreeFlowJson(fileOf(RING))).toBe(true);
    expect(isTreeFlowJson(JSON.parse(scheduleToJson(ringSchedule())))).toBe(false);
    for (const value of [null, 1, "trees", []]) expect(isTreeFlowJson(value)).toBe(false);
  });

  it("takes an edge of one link as a list, and a file without k", () => {
    const file = fileOf(RING);
    file.forests[0].trees[0].edges[0] = [0];
    delete file.k;
    expect(read(file)).toEqual(builtTrees(RING));
  });

  it("accepts the network that it is for and refuses another", () => {
    const flow = builtTrees(RING);
    const text = treeFlowToJson(flow);
    expect(readTreeFlow(text, "t.json", { topology: flow.topology })).toEqual(flow);
    const { topology } = ringTrees(4);
    expect(refusalFrom(() => readAnySchedule(text, "t.json", { topology }))).toEqual(
      unexpected(
        "t.json",
        `one for another topology, hand-made (hash ${topologyHash(flow.topology)})`,
        topologyHash(topology),
      ),
    );
  });

  it.each<[string, PlainFlow, (file: unknown) => void, Refusal]>([
    ["version", RING, put("version", 2), unexpected("t.json: version", 2)],
    ["kind", RING, put("kind", "bushes"), unexpected("t.json: kind", "bushes")],
    [
      "groups",
      ringTrees(4),
      (file) => {
        put("collective.groups", [
          [0, 1],
          [2, 3],
        ])(file);
        put("collective.sizeBytes", 2000)(file);
      },
      unexpected("t.json: collective.groups", 2),
    ],
    ["chunks", RING, put("chunks.count", 4), unexpected("t.json: chunks", 4, 3)],
    ["k", RING, put("k", 2), unexpected("t.json: k", 2)],
    ["k of no kind", RING, put("k", "1"), unexpected("t.json: k", "1")],
    ["k where roots differ", REDUCED, put("k", 1), unexpected("t.json: k", 1)],
    ["concurrent", RING, put("concurrent", undefined), missing("t.json: concurrent")],
    ["symmetry", RING, put("symmetry", undefined), missing("t.json: symmetry")],
    ["size", TURNED, put("symmetry.sizes[0]", 0), unexpected("t.json: symmetry.sizes[0]", 0)],
    [
      "order",
      TURNED,
      put("symmetry.sizes", [2 ** 30, 2 ** 30]),
      outOfRange("t.json: symmetry.sizes", [1073741824, 1073741824], 64),
    ],
    ["steps", TURNED, put("symmetry.steps", []), unexpected("t.json: symmetry.steps", 0)],
    ["step", TURNED, put("symmetry.steps[0]", [0, 1]), unexpected("t.json: symmetry.steps[0]", 2, 3)],
    ["image", TURNED, put("symmetry.steps[0][2]", 3), unexpected("t.json: symmetry.steps[0][2]", 3, 2)],
    ["certificate", RING, put("certificate.kind", "oath"), unexpected("t.json: certificate.kind", "oath")],
    ["direction of a cut", RING, put("certificate.direction", "up"), unexpected("t.json: certificate.direction", "up")],
    ["node of a cut", RING, put("certificate.nodes[1]", -1), unexpected("t.json: certificate.nodes[1]", -1, 2)],
    ["order of a cut", RING, put("certificate.nodes", [1, 0]), unexpected("t.json: certificate.nodes[1]", 0)],
    ["sets", REDUCED, put("certificate.cuts", 1), unexpected("t.json: certificate.cuts", 1)],
    ["set", REDUCED, put("certificate.cuts[1].nodes", null), unexpected("t.json: certificate.cuts[1].nodes", null)],
    [
      "weight",
      REDUCED,
      put("certificate.cuts[0].weight", "-1/2"),
      unexpected("t.json: certificate.cuts[0].weight", "-1/2"),
    ],
    ["forests", RING, put("forests", {}), unexpected("t.json: forests", {})],
    ["number of forests", RING, put("forests", []), unexpected("t.json: forests", 0)],
    [
      "direction",
      RING,
      put("forests[0].direction", "sideways"),
      unexpected("t.json: forests[0].direction", "sideways"),
    ],
    [
      "bandwidth",
      RING,
      put("forests[0].copyBytesPerSecond", "0"),
      unexpected("t.json: forests[0].copyBytesPerSecond", "0"),
    ],
    ["trees", RING, put("forests[0].trees", []), outOfRange("t.json: forests[0].trees", [])],
    ["tree", RING, put("forests[0].trees[1]", null), unexpected("t.json: forests[0].trees[1]", null)],
    ["root", RING, put("forests[0].trees[1].root", 3), unexpected("t.json: forests[0].trees[1].root", 3, 2)],
    ["copies", RING, put("forests[0].trees[1].copies", 0), unexpected("t.json: forests[0].trees[1].copies", 0)],
    ["edges", RING, put("forests[0].trees[1].edges", [0]), unexpected("t.json: forests[0].trees[1].edges", 1, 2)],
    ["edge", RING, put("forests[0].trees[1].edges[1]", []), unexpected("t.json: forests[0].trees[1].edges[1]", [])],
    ["link", RING, put("forests[0].trees[1].edges[1]", 3), unexpected("t.json: forests[0].trees[1].edges[1]", 3, 2)],
    [
      "link of a path",
      RING,
      put("forests[0].trees[1].edges[1]", [0, "1"]),
      unexpected("t.json: forests[0].trees[1].edges[1][1]", "1", 2),
    ],
  ])("refuses a wrong %s", (_, flow, change, sentence) => {
    const file = fileOf(flow);
    change(file);
    expect(refusalFrom(() => read(file))).toEqual(sentence);
  });

  it("answers any mutation of a file with an InputError or a flow that can be judged", () => {
    const change = anyTextChange(fc.nat(3).map(String));
    const texts = FLOWS.map((flow) => treeFlowToJson(flow));
    let refused = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 0, max: 2 }),
        (whole, changes, way) => {
          let text = whole;
          for (const one of way === 2 ? changes.slice(0, 1) : changes) {
            // two of three runs swap whole values; half of these behind the network
            text = changedText(text, one, way === 0 ? null : way === 1 ? 0 : text.indexOf('"kind": "trees"'));
          }
          const judge = (): void => {
            const flow = readTreeFlow(text, "t.json");
            const { violations, violationCount } = verifyTreeFlow(flow);
            expect(violations.filter(({ kind }) => kind === "malformed")).toEqual([]);
            if (violationCount === 0) judgeCertificate(flow);
          };
          if (isRefused(judge)) refused++;
        },
      ),
      { numRuns: runs(2000), seed: 5 },
    );
    expect(refused).toBeGreaterThan(seen(1000));
    expect(refused).toBeLessThan(1950);
  });

  it("reads columns into flows that throw nothing, whatever they hold", () => {
    const parts = (value: unknown, draws: ReturnType<typeof random>): unknown =>
      Array.isArray(value) && typeof value[0] === "object"
        ? value.map((part) => parts(part, draws))
        : garbled(value, draws, 10);
    for (let seed = 0; seed < 2000; seed++) {
      const draws = random(seed, 50);
      const flow = FLOWS[seed % FLOWS.length];
      const { symmetry } = flow;
      const changed = {
        ...(garbled(flow, draws, 20) as typeof flow),
        forests: parts(flow.forests, draws) as typeof flow.forests,
        symmetry:
          symmetry === null ? null : { sizes: symmetry.sizes, steps: parts(symmetry.steps, draws) as Int32Array[] },
      };
      const { violations, violationCount } = verifyTreeFlow(changed);
      expect(violationCount).toBeGreaterThanOrEqual(violations.length);
      for (const { message } of violations) expect(message).not.toMatch(/undefined/);
    }
  });

  it("finds the certificate of a read flow as good as it was", () => {
    for (const flow of FLOWS.slice(0, Object.keys(HAND_MADE_TREES).length)) {
      expect(judgeCertificate(readTreeFlow(treeFlowToJson(flow), "t.json"))).toEqual(judgeCertificate(flow));
    }
  });
});
