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
import { ringSchedule } from "../../support/ring-schedule.ts";
import { runs, seen } from "../../support/runs.ts";
import { drawnFlows } from "../../support/tree-flow-cases.ts";
import { isRefused, sentenceOf } from "../support.ts";

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
    expect(sentenceOf(() => readAnySchedule(text, "t.json", { topology }))).toBe(
      `expected a schedule for hand-made (hash ${topologyHash(topology)}) for t.json but received "one for another topology, hand-made (hash ${topologyHash(flow.topology)})"`,
    );
  });

  it.each<[string, PlainFlow, (file: unknown) => void, string]>([
    ["version", RING, put("version", 2), "expected version 1, as trees have it, for t.json: version but received 2"],
    ["kind", RING, put("kind", "bushes"), 'expected "trees" for t.json: kind but received "bushes"'],
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
      "expected one group, as trees have it, for t.json: collective.groups but received 2",
    ],
    [
      "chunks",
      RING,
      put("chunks.count", 4),
      "expected 3 chunks, as the collective has, for t.json: chunks but received 4",
    ],
    ["k", RING, put("k", 2), "expected 1 copies a root, as the trees have, for t.json: k but received 2"],
    ["k of no kind", RING, put("k", "1"), 'expected an integer of 1 or more for t.json: k but received "1"'],
    [
      "k where roots differ",
      REDUCED,
      put("k", 1),
      "expected nothing, for a collective whose roots may differ, for t.json: k but received 1",
    ],
    [
      "concurrent",
      RING,
      put("concurrent", undefined),
      "expected true or false for t.json: concurrent but received nothing",
    ],
    ["symmetry", RING, put("symmetry", undefined), "expected an object for t.json: symmetry but received nothing"],
    [
      "size",
      TURNED,
      put("symmetry.sizes[0]", 0),
      "expected an integer of 1 or more for t.json: symmetry.sizes[0] but received 0",
    ],
    [
      "order",
      TURNED,
      put("symmetry.sizes", [2 ** 30, 2 ** 30]),
      "expected at most 64 sizes of at most 2^53 - 1 together for t.json: symmetry.sizes but received [1073741824,1073741824]",
    ],
    [
      "steps",
      TURNED,
      put("symmetry.steps", []),
      "expected 1 maps, one a size, for t.json: symmetry.steps but received 0",
    ],
    ["step", TURNED, put("symmetry.steps[0]", [0, 1]), "expected 3 nodes for t.json: symmetry.steps[0] but received 2"],
    [
      "image",
      TURNED,
      put("symmetry.steps[0][2]", 3),
      "expected an integer in 0 .. 2 for t.json: symmetry.steps[0][2] but received 3",
    ],
    [
      "certificate",
      RING,
      put("certificate.kind", "oath"),
      'expected "cut" or "dual" for t.json: certificate.kind but received "oath"',
    ],
    [
      "direction of a cut",
      RING,
      put("certificate.direction", "up"),
      'expected "out" or "in" for t.json: certificate.direction but received "up"',
    ],
    [
      "node of a cut",
      RING,
      put("certificate.nodes[1]", -1),
      "expected an integer in 0 .. 2 for t.json: certificate.nodes[1] but received -1",
    ],
    [
      "order of a cut",
      RING,
      put("certificate.nodes", [1, 0]),
      "expected ascending nodes for t.json: certificate.nodes[1] but received 0",
    ],
    ["sets", REDUCED, put("certificate.cuts", 1), "expected a list for t.json: certificate.cuts but received 1"],
    [
      "set",
      REDUCED,
      put("certificate.cuts[1].nodes", null),
      "expected a list of nodes for t.json: certificate.cuts[1].nodes but received null",
    ],
    [
      "weight",
      REDUCED,
      put("certificate.cuts[0].weight", "-1/2"),
      'expected a fraction of 0 or more as a text such as "2400/7" for t.json: certificate.cuts[0].weight but received "-1/2"',
    ],
    ["forests", RING, put("forests", {}), "expected a list of forests for t.json: forests but received {}"],
    ["number of forests", RING, put("forests", []), "expected one forest or two for t.json: forests but received 0"],
    [
      "direction",
      RING,
      put("forests[0].direction", "sideways"),
      'expected "out" or "in" for t.json: forests[0].direction but received "sideways"',
    ],
    [
      "bandwidth",
      RING,
      put("forests[0].copyBytesPerSecond", "0"),
      'expected a positive fraction as a text such as "2400/7" for t.json: forests[0].copyBytesPerSecond but received "0"',
    ],
    [
      "trees",
      RING,
      put("forests[0].trees", []),
      "expected at least one tree for t.json: forests[0].trees but received []",
    ],
    [
      "tree",
      RING,
      put("forests[0].trees[1]", null),
      "expected an object for t.json: forests[0].trees[1] but received null",
    ],
    [
      "root",
      RING,
      put("forests[0].trees[1].root", 3),
      "expected an integer in 0 .. 2 for t.json: forests[0].trees[1].root but received 3",
    ],
    [
      "copies",
      RING,
      put("forests[0].trees[1].copies", 0),
      "expected an integer of 1 or more for t.json: forests[0].trees[1].copies but received 0",
    ],
    [
      "edges",
      RING,
      put("forests[0].trees[1].edges", [0]),
      "expected 2 edges, one to each other member, for t.json: forests[0].trees[1].edges but received 1",
    ],
    [
      "edge",
      RING,
      put("forests[0].trees[1].edges[1]", []),
      "expected a link or a list of links for t.json: forests[0].trees[1].edges[1] but received []",
    ],
    [
      "link",
      RING,
      put("forests[0].trees[1].edges[1]", 3),
      "expected an integer in 0 .. 2 for t.json: forests[0].trees[1].edges[1] but received 3",
    ],
    [
      "link of a path",
      RING,
      put("forests[0].trees[1].edges[1]", [0, "1"]),
      'expected an integer in 0 .. 2 for t.json: forests[0].trees[1].edges[1][1] but received "1"',
    ],
  ])("refuses a wrong %s", (_, flow, change, sentence) => {
    const file = fileOf(flow);
    change(file);
    expect(sentenceOf(() => read(file))).toBe(sentence);
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
