import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sketchToJson } from "../../../src/export/networks/taccl-sketch.ts";
import { readTacclTopology } from "../../../src/import/networks/taccl-topology.ts";
import { readSketch, readSketchNodes } from "../../../src/import/sketches/taccl-sketch.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { routeCount } from "../../../src/model/routes/routes.ts";
import { sketchNetwork } from "../../../src/model/sketch/network.ts";
import { checkSketch } from "../../../src/model/sketch/sketch.ts";
import { type Refusal, refusalFrom, unexpected } from "../../support/refusals.ts";
import { hasSharedData, sharedFiles, sharedText } from "../../support/shared-data.ts";
import { anySketch, OWN_SKETCH, sharedNics } from "../../support/sketches.ts";

/** Our own file without comments, as a value that tests change. */
type Json = Record<string, unknown> & {
  internode_sketch: Record<string, unknown>;
  intranode_sketch: Record<string, unknown>;
};
const own = (): Json => JSON.parse(OWN_SKETCH.replaceAll(/\/\/[^\n]*/g, "")) as Json;
const read = (value: unknown) => readSketch(JSON.stringify(value), "s.json", sharedNics());
const refusal = (change: (file: Json) => void): Error => {
  const file = own();
  change(file);
  return refusalFrom(() => read(file));
};

describe("readSketch", () => {
  it("reads all fields, with comments as in listing 1", () => {
    const sketch = readSketch(OWN_SKETCH, "own.json", sharedNics());
    expect(sketch).toEqual({
      name: "own.json",
      madeFor: sharedNics(),
      boxes: 2,
      npusPerBox: 4,
      intranode: { strategy: "switch", switches: [[0, 1, 2, 3]], policies: ["uc-min"], connections: null },
      internode: {
        connections: new Map([
          [1, [0]],
          [3, [2]],
        ]),
        betaSplit: new Map([
          [1, 1],
          [3, 2],
        ]),
        relays: new Map([
          [0, [1]],
          [1, [1]],
          [2, [3]],
          [3, [3]],
        ]),
        enforceOrdering: true,
      },
      symmetries: [{ offset: 4, period: 8 }],
      chunksPerNpu: 2,
      inputBytes: 2 ** 20,
    });
  });

  it("reads gpus_to_sender_rev_map as senders with the GPUs whose chunks they carry", () => {
    const file = own();
    Object.assign(file.internode_sketch, {
      chunk_to_relay_map: undefined,
      gpus_to_sender_rev_map: { "1": [0, 2, 1], "3": [2, 3] },
    });
    expect(read(file).internode?.relays).toEqual(
      new Map([
        [0, [1]],
        [1, [1]],
        [2, [1, 3]],
        [3, [3]],
      ]),
    );
  });

  it("takes the network's boxes where nnodes is left out, and one node without boxes", () => {
    const { nnodes: _, ...listing } = own();
    expect(read(listing).boxes).toBe(2);
    expect(readSketchNodes(JSON.stringify(listing), "s.json")).toBeNull();
    expect(readSketchNodes(OWN_SKETCH, "s.json")).toBe(2);
    const torus = readSketch('{"intranode_sketch": {"strategy": "none"}}', "s.json", presetTopology("torus:3x3"));
    expect([torus.boxes, torus.npusPerBox, torus.chunksPerNpu]).toEqual([1, 9, 1]);
  });

  it("leaves what looks like a comment in a text alone, and lines and columns as they are", () => {
    expect(refusalFrom(() => readSketch('{"a//b\\"//c": 1}', "s.json", sharedNics()))).toEqual(
      unexpected("s.json", 'a//b"//c'),
    );
    expect(refusalFrom(() => readSketch('// first\n{ // a\n "nnodes": 2,, // b\n}', "s.json", sharedNics()))).toEqual(
      unexpected("s.json line 3, column 14", ","),
    );
  });

  it("fits custom topologies of several nodes", () => {
    const ring = [
      [0, 0, 1],
      [1, 0, 0],
      [0, 1, 0],
    ];
    const custom = {
      name: "ring_1MB",
      gpus_per_node: 3,
      alpha: 1,
      links: ring,
      betas: ring,
      remote_alpha: 2,
      remote_beta: 9,
    };
    const text =
      '{"nnodes": 2, "intranode_sketch": {"strategy": "none"}, "internode_sketch": {"strategy": "relay", "internode_conn": {"0": [2]}}, "symmetry_offsets": [[3, 6]]}';
    const nodes = readSketchNodes(text, "s.json") ?? 1;
    const topology = readTacclTopology(JSON.stringify(custom), "ring.json", { nodes });
    const { routes, symmetries } = sketchNetwork(topology, readSketch(text, "s.json", topology));
    const pairs = Array.from(routes.source, (from, r) => `${from}>${routes.target[r]}`);
    expect(pairs).toEqual(["0>1", "0>5", "1>2", "2>0", "3>2", "3>4", "4>5", "5>3"]);
    expect([...symmetries[0].routeTo]).toEqual([5, 4, 6, 7, 1, 0, 2, 3]);
  });

  it.each<readonly [what: string, change: (file: Json) => void, sentence: Refusal]>([
    [
      "an unknown field",
      (f) => Object.assign(f, { symetry_offsets: [] }),
      unexpected("s.json", "symetry_offsets", "symmetry_offsets"),
    ],
    [
      "an unknown inner field",
      (f) => Object.assign(f.internode_sketch, { betasplit: {} }),
      unexpected("s.json: internode_sketch", "betasplit", "beta_split"),
    ],
    ["another number of nodes", (f) => Object.assign(f, { nnodes: 4 }), unexpected("s.json: nnodes", 4, 2)],
    ["a text for nnodes", (f) => Object.assign(f, { nnodes: "2" }), unexpected("s.json: nnodes", "2", 65536)],
    [
      "an unknown strategy",
      (f) => Object.assign(f.intranode_sketch, { strategy: "ring" }),
      unexpected("s.json: intranode_sketch.strategy", "ring"),
    ],
    [
      "a rank out of the box",
      (f) => Object.assign(f.intranode_sketch, { switches: [[0, 4]] }),
      unexpected("s.json: intranode_sketch.switches[0][1]", 4, 3),
    ],
    [
      "a rank twice",
      (f) => Object.assign(f.intranode_sketch, { switches: [[0, 1, 1]] }),
      unexpected("s.json: intranode_sketch.switches[0]", [0, 1, 1]),
    ],
    [
      "two GPUs on two switches",
      (f) =>
        Object.assign(f.intranode_sketch, {
          switches: [
            [0, 1, 2],
            [1, 2, 3],
          ],
          switch_hyperedge_strategy: ["uc-min", "uc-min"],
        }),
      unexpected("s.json: intranode_sketch.switches[1]", "GPUs 1 and 2"),
    ],
    [
      "a policy too many",
      (f) => Object.assign(f.intranode_sketch, { switch_hyperedge_strategy: ["uc-min", "uc-max"] }),
      unexpected("s.json: intranode_sketch.switch_hyperedge_strategy", ["uc-min", "uc-max"]),
    ],
    [
      "switches of no use",
      (f) => Object.assign(f.intranode_sketch, { strategy: "none" }),
      unexpected("s.json: intranode_sketch.switches", [[0, 1, 2, 3]]),
    ],
    [
      "relays inside without connections",
      (f) => Object.assign(f, { intranode_sketch: { strategy: "relay" } }),
      unexpected("s.json: intranode_sketch.intranode_conn", null),
    ],
    [
      "a GPU connected to itself",
      (f) => Object.assign(f, { intranode_sketch: { strategy: "relay", intranode_conn: { "1": [1] } } }),
      unexpected("s.json: intranode_sketch.intranode_conn.1", [1]),
    ],
    [
      "a word for connections",
      (f) => Object.assign(f.internode_sketch, { internode_conn: "all" }),
      unexpected("s.json: internode_sketch.internode_conn", "all"),
    ],
    [
      "a key that is no GPU",
      (f) => Object.assign(f.internode_sketch, { internode_conn: { "01": [0] } }),
      unexpected("s.json: internode_sketch.internode_conn", "01"),
    ],
    [
      "a sender without receivers",
      (f) => Object.assign(f.internode_sketch, { internode_conn: { "1": [], "3": [0] } }),
      unexpected("s.json: internode_sketch.internode_conn.1", []),
    ],
    [
      "a split for no sender",
      (f) => Object.assign(f.internode_sketch, { beta_split: { "2": 2 } }),
      unexpected("s.json: internode_sketch.beta_split", 2),
    ],
    [
      "a split of nothing",
      (f) => Object.assign(f.internode_sketch, { beta_split: { "1": 0 } }),
      unexpected("s.json: internode_sketch.beta_split.1", 0),
    ],
    [
      "a relay without a connection",
      (f) => Object.assign(f.internode_sketch, { chunk_to_relay_map: [2, 0] }),
      unexpected("s.json: internode_sketch.gpus_to_sender_rev_map (or chunk_to_relay_map)", 0),
    ],
    [
      "relays in two ways",
      (f) => Object.assign(f.internode_sketch, { gpus_to_sender_rev_map: { "1": [0, 1, 2, 3] } }),
      unexpected("s.json: internode_sketch.chunk_to_relay_map", [2, 1]),
    ],
    [
      "relays that do not fit",
      (f) => Object.assign(f.internode_sketch, { chunk_to_relay_map: [3, 1] }),
      unexpected("s.json: internode_sketch.chunk_to_relay_map[0]", 3, 4),
    ],
    [
      "a GPU that nobody carries for",
      (f) => {
        Object.assign(f.internode_sketch, {
          chunk_to_relay_map: undefined,
          gpus_to_sender_rev_map: { "1": [0, 1], "3": [3] },
        });
      },
      unexpected("s.json: internode_sketch.gpus_to_sender_rev_map (or chunk_to_relay_map)", "none for GPU 2"),
    ],
    [
      "an owner out of the box",
      (f) => {
        Object.assign(f.internode_sketch, {
          chunk_to_relay_map: undefined,
          gpus_to_sender_rev_map: { "1": [0, 1, 2, 3, 4] },
        });
      },
      unexpected("s.json: internode_sketch.gpus_to_sender_rev_map.1", 4, 3),
    ],
    ["one node with an internode sketch", (f) => Object.assign(f, { nnodes: 1 }), unexpected("s.json: nnodes", 1, 2)],
    [
      "several nodes without",
      (f) => Object.assign(f, { internode_sketch: undefined }),
      unexpected("s.json: internode_sketch", null, 2),
    ],
    [
      "an offset as large as its group",
      (f) => Object.assign(f, { symmetry_offsets: [[8, 8]] }),
      unexpected("s.json: symmetry_offsets[0]", [8, 8], 7),
    ],
    [
      "a group that does not divide",
      (f) => Object.assign(f, { symmetry_offsets: [[1, 3]] }),
      unexpected("s.json: symmetry_offsets[0]", [1, 3], 2, 8),
    ],
    [
      "three numbers for a rotation",
      (f) => Object.assign(f, { symmetry_offsets: [[1, 2, 3]] }),
      unexpected("s.json: symmetry_offsets[0]", [1, 2, 3]),
    ],
    [
      "no chunks",
      (f) => Object.assign(f, { hyperparameters: { input_chunkup: 0 } }),
      unexpected("s.json: hyperparameters.input_chunkup", 0),
    ],
    [
      "a size that is none",
      (f) => Object.assign(f, { hyperparameters: { input_size: "much" } }),
      unexpected("s.json: hyperparameters.input_size", "much"),
    ],
  ])("refuses %s", (_, change, sentence) => {
    expect(refusal(change)).toEqual(sentence);
  });

  it("reads what sketchToJson writes", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 2, 3).chain((boxes) => anySketch(boxes, 4)),
        (sketch) => {
          checkSketch(sketch);
          const madeFor = sharedNics(sketch.boxes);
          expect(readSketch(sketchToJson(sketch), "any", madeFor)).toEqual({ ...sketch, madeFor });
        },
      ),
    );
  });
});

/** Connections that each of TACCL's examples allows: inside boxes and between them, counted by hand from the files. */
const EXAMPLES: Readonly<Record<string, readonly [inside: number, between: number]>> = {
  "sk-dgx2-n1.json": [240, 0],
  "sk-ndv2-n1-cUp6.json": [32, 0],
  "sk1-dgx2-n1.json": [240, 0],
  "sk1-dgx2-n2.json": [2 * 240, 2 * 8],
  "sk1-ndv2-n1.json": [32, 0],
  "sk1-ndv2-n2.json": [2 * 32, 2],
  "sk1-ndv2-n4.json": [4 * 32, 12],
  "sk2-dgx2-n2.json": [2 * 240, 2 * 16],
  "sk2-ndv2-n2.json": [2 * 32, 2 * 64],
  "sk2-ndv2-n4.json": [4 * 32, 12 * 64],
  "sk3-ndv2-n2.json": [2 * 32, 2 * 8],
};

describe.skipIf(!hasSharedData)("TACCL's example sketches", () => {
  it.each(Object.entries(EXAMPLES))("%s fits its network", (file, [inside, between]) => {
    const profile = file.includes("ndv2") ? "topo-ndv2-1MB.json" : "topo-dgx2-1MB.json";
    const text = sharedText(`taccl/sketch/${file}`);
    const nodes = readSketchNodes(text, file) as number;
    const topology = readTacclTopology(sharedText(`taccl/topo/${profile}`), profile, { nodes });
    const sketch = readSketch(text, file, topology);
    const network = sketchNetwork(topology, sketch);
    const leaving = network.leavesBox.reduce((sum, leaves) => sum + leaves, 0);
    expect([routeCount(network.routes) - leaving, leaving]).toEqual([inside, between]);
    expect(readSketch(sketchToJson(sketch), file, topology)).toEqual(sketch);
  });

  it("are all known", () => {
    expect(sharedFiles("taccl/sketch")).toEqual(Object.keys(EXAMPLES));
  });
});
