import { Writer } from "protobufjs/minimal.js";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { type ChakraOptions, readChakra, type TraceFile } from "../../../src/import/workloads/chakra.ts";
import { readTrace } from "../../../src/import/workloads/chakra-trace.ts";
import type { PlacedTasks } from "../../../src/model/workload/placed-tasks.ts";
import { coll, comp, type HandNode, receive, send, tracesOf } from "../../support/chakra-bytes.ts";
import { BYTE_A_NS, timesOf } from "../../support/placed-costs.ts";

const ALL_REDUCE = 0;
const ALL_GATHER = 2;

/** Returns the microseconds of traces whose communications take a ns for each byte. */
const usOf = (placed: PlacedTasks): number => timesOf(placed, BYTE_A_NS).ps / 1e6;

const read = (npus: readonly (readonly HandNode[])[], options: ChakraOptions = {}): PlacedTasks =>
  readChakra(tracesOf(...npus), options);

function refusal(files: readonly TraceFile[], options: ChakraOptions = {}): string {
  try {
    readChakra(files, options);
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
  return "none";
}

/** Returns the communications of tasks: what, how much, among whom. */
const communicated = ({ tasks, groups }: PlacedTasks): string[] =>
  tasks.works.flatMap((work, w) =>
    work.kind === "communication"
      ? [
          `${work.communication.collective} ${work.communication.bytes} ${groups[w]?.size}: ${groups[w]?.members.join(" ")}`,
        ]
      : [],
  );

describe("Chakra execution traces, as tasks", () => {
  it("have collectives that wait for all their members", () => {
    const npus = [
      [comp(0, 10), coll(1, ALL_REDUCE, 5000, [0]), comp(2, 1, [1])],
      [comp(0, 30), coll(1, ALL_REDUCE, 5000, [0]), comp(2, 2, [1])],
    ];
    for (const folds of [false, true]) {
      const placed = read(npus, { folds });
      expect(communicated(placed)).toEqual(["allreduce 5000 2: 0 1"]);
      expect(placed.tasks.actors).toEqual(["NPU 0", "NPU 1"]);
      expect(usOf(placed)).toBe(37);
    }
  });

  it("have sizes of whole buffers, where an all-gather's is that of a part", () => {
    const nodes = [coll(0, ALL_GATHER, 100), coll(1, 7, 100, [0]), coll(2, 6, 100, [1])];
    expect(communicated(read([nodes, nodes, nodes]))).toEqual([
      "allgather 300 3: 0 1 2",
      "reducescatter 100 3: 0 1 2",
      "alltoall 100 3: 0 1 2",
    ]);
  });

  it("have receives that end with the message, and not before what they wait for", () => {
    const sender = [comp(0, 10), send(1, 1, 5000, [0]), comp(2, 1, [1])];
    expect(usOf(read([sender, [receive(0, 0, 5000), comp(1, 7, [0])]]))).toBe(22);
    expect(usOf(read([sender, [comp(2, 40), receive(0, 0, 5000, [2]), comp(1, 7, [0])]]))).toBe(47);
  });

  it("match messages of one tag in the order of their ids", () => {
    const placed = read([
      [send(5, 1, 2000, [], 3), send(4, 1, 1000, [], 3)],
      [receive(9, 0, 2000, [], 3), receive(8, 0, 1000, [], 3)],
    ]);
    expect(communicated(placed)).toEqual(["send 1000 2: 0 1", "send 2000 2: 0 1"]);
    expect(usOf(placed)).toBe(3);
  });

  it("match collectives by name where all members have the same names, else in the order of their ids", () => {
    const named = (id: number, size: number, name: string): HandNode => ({ ...coll(id, ALL_REDUCE, size), name });
    const crossed = [
      [named(0, 100, "a"), named(1, 200, "b")],
      [named(0, 200, "b"), named(1, 100, "a")],
    ];
    expect(communicated(read(crossed))).toEqual(["allreduce 100 2: 0 1", "allreduce 200 2: 0 1"]);
    const like = [
      [named(0, 100, "a"), named(1, 200, "a")],
      [named(0, 100, "b"), named(1, 200, "c")],
    ];
    expect(communicated(read(like))).toEqual(["allreduce 100 2: 0 1", "allreduce 200 2: 0 1"]);
  });

  it("have groups of a file, of METADATA nodes, and of dimensions of the network", () => {
    const file = { name: "groups.json", text: '{"1": [1, 0], "2": [2, 3]}' };
    const npus = ["1", "1", "2", "2"].map((group) => [coll(0, ALL_REDUCE, 100, [], group)]);
    const each = { folds: false };
    expect(communicated(read(npus, { ...each, groups: file }))).toEqual([
      "allreduce 100 2: 1 0",
      "allreduce 100 2: 2 3",
    ]);
    const own = (npu: number, ranks: string): TraceFile => ({
      name: `t.${npu}.et`,
      bytes: handMade(
        (node) => {
          node
            .uint32(24)
            .int32(1)
            .uint32(66)
            .fork()
            .uint32(10)
            .string(`['[{"pg_name": "7", "ranks": ${ranks}}]']`)
            .ldelim();
        },
        (node) => {
          node.uint32(8).uint64(1).uint32(24).int32(7);
          attribute(node, "comm_type", 72, (w) => w.int64(0));
          attribute(node, "comm_size", 72, (w) => w.int64(100));
          attribute(node, "pg_name", 234, (w) => w.string("7"));
        },
      ),
    });
    expect(communicated(readChakra([own(0, "[0, 1]"), own(1, "[]")], each))).toEqual(["allreduce 100 2: 0 1"]);
    const along = Array.from({ length: 4 }, (_, npu) => ({
      name: `t.${npu}.et`,
      bytes: handMade((node) => {
        node.uint32(24).int32(7);
        attribute(node, "comm_type", 72, (w) => w.int64(0));
        attribute(node, "comm_size", 72, (w) => w.int64(100));
        attribute(node, "involved_dim", 226, (w) =>
          w.fork().uint32(10).fork().bool(false).bool(true).ldelim().ldelim(),
        );
      }),
    }));
    expect(communicated(readChakra(along, { ...each, dimensions: [2, 2] }))).toEqual([
      "allreduce 100 2: 0 2",
      "allreduce 100 2: 1 3",
    ]);
    expect(refusal(along)).toContain("t.0.et: node 0: involved_dim");
  });

  it("have barriers, nodes that do nothing and groups of one NPU that only wait", () => {
    const placed = read([
      [comp(0, 10), coll(1, 9, 0, [0]), comp(2, 1, [1])],
      [comp(0, 30), { ...coll(1, 9, 0, [0]) }, { id: 3, type: "invalid", deps: [1] }, comp(2, 2, [3])],
    ]);
    expect(usOf(placed)).toBe(32);
    const alone = read([[comp(0, 10), coll(1, ALL_REDUCE, 5000, [0]), comp(2, 1, [1])]]);
    expect([communicated(alone), usOf(alone)]).toEqual([[], 11]);
  });

  it("have computations by time, or by operations and bytes", () => {
    const both: HandNode = { id: 0, type: "computation", micros: 4, num_ops: 100, tensor_size: 300 };
    const node: HandNode = { id: 1, type: "computation", num_ops: 1000, tensor_size: 300 };
    const works = (options: ChakraOptions) =>
      read([[both, node]], options).tasks.works.flatMap((work) =>
        work.kind === "computations" ? work.computations : [],
      );
    expect(works({})).toMatchObject([
      { givenPs: 4e6, flops: 100, bytes: 300, kind: "memory" },
      { flops: 1000, kind: "matmul" },
    ]);
    expect(works({}).map(({ givenPs }) => givenPs)).toEqual([4e6, undefined]);
    expect(works({ times: "operations" }).map(({ givenPs }) => givenPs)).toEqual([undefined, undefined]);
  });

  it("run computations of the host beside the others", () => {
    const onHost: HandNode = { ...comp(1, 10), is_cpu_op: true };
    expect(usOf(read([[comp(0, 10), onHost]]))).toBe(10);
    expect(usOf(read([[comp(0, 10), { ...onHost, is_cpu_op: 0 }]]))).toBe(20);
  });

  it("may wait for nodes behind them in the file", () => {
    expect(usOf(read([[comp(7, 1, [3]), comp(9, 2, [7]), comp(3, 4)]]))).toBe(7);
  });

  it("of NPUs that do the same are one actor, where groups and peers correspond", () => {
    const groups = { name: "g.json", text: '{"1": [0, 1], "2": [2, 3]}' };
    // two stages of two NPUs, each summed, then sent on
    const first = (to: number): HandNode[] => [
      comp(0, 5),
      coll(1, ALL_REDUCE, 1000, [0], "1"),
      send(2, to, 2000, [1]),
      comp(3, 1, [1]),
    ];
    const last = (from: number): HandNode[] => [
      receive(0, from, 2000),
      comp(1, 6, [0]),
      coll(2, ALL_REDUCE, 1000, [1], "2"),
    ];
    const npus = [first(2), first(3), last(0), last(1)];
    const folded = read(npus, { groups });
    const each = read(npus, { groups, folds: false });
    expect(folded.npus.map((all) => [...all])).toEqual([
      [0, 1],
      [2, 3],
    ]);
    expect(communicated(folded)).toEqual(["allreduce 1000 2: 0 1", "send 2000 2: 0 2 1 3", "allreduce 1000 2: 2 3"]);
    expect(folded.tasks.work.length).toBe(6);
    expect(each.tasks.work.length).toBe(10);
    expect([usOf(folded), usOf(each)]).toEqual([15, 15]);
    // one that differs in a time sets all apart that it communicates with
    const odd = read([first(2), first(3).with(3, comp(3, 2, [1])), last(0), last(1)], { groups });
    expect(odd.npus.length).toBe(4);
  });

  it("of a ring of messages are one actor, and 1,024 NPUs stay few tasks", () => {
    const count = 1024;
    const npus = Array.from({ length: count }, (_, npu) => [
      comp(0, 3),
      send(1, (npu + 1) % count, 1000, [0]),
      receive(2, (npu + count - 1) % count, 1000),
      comp(3, 4, [2]),
      coll(4, ALL_REDUCE, 2000, [3]),
    ]);
    const placed = read(npus);
    expect(placed.tasks.actors).toEqual(["every NPU"]);
    expect(placed.tasks.work.length).toBe(4);
    expect(placed.groups.map((group) => group?.members.length ?? 0)).toEqual([0, 2048, 0, 1024]);
    expect(usOf(placed)).toBe(10);
  });
});

/** Writes an attribute: the tag of its value and the value. */
function attribute(node: Writer, name: string, tag: number, write: (writer: Writer) => unknown): void {
  node.uint32(82).fork().uint32(10).string(name).uint32(tag);
  write(node);
  node.ldelim();
}

/** Returns a trace of empty metadata and nodes that are written by hand. */
function handMade(...nodes: readonly ((node: Writer) => void)[]): Uint8Array {
  const file = Writer.create().fork().ldelim();
  for (const node of nodes) {
    file.fork();
    node(file);
    file.ldelim();
  }
  return file.finish();
}

describe("the bytes of Chakra execution traces", () => {
  it.each<[string, number, (writer: Writer) => unknown, unknown]>([
    ["double", 25, (w) => w.double(12), 12],
    ["float", 45, (w) => w.float(12), 12],
    ["int32", 56, (w) => w.int32(-3), -3],
    ["int64", 72, (w) => w.int64(-(2 ** 40)), -(2 ** 40)],
    ["int64, the greatest", 72, (w) => w.int64(2 ** 53 - 1), 2 ** 53 - 1],
    ["uint32", 88, (w) => w.uint32(2 ** 32 - 1), 2 ** 32 - 1],
    ["uint64", 104, (w) => w.uint64(2 ** 45), 2 ** 45],
    ["sint32", 120, (w) => w.sint32(-7), -7],
    ["sint64", 136, (w) => w.sint64(-(2 ** 50) - 1), -(2 ** 50) - 1],
    ["fixed32", 157, (w) => w.fixed32(5), 5],
    ["fixed64", 169, (w) => w.fixed64(2 ** 33), 2 ** 33],
    ["sfixed32", 189, (w) => w.sfixed32(-5), -5],
    ["sfixed64", 201, (w) => w.sfixed64(-(2 ** 33)), -(2 ** 33)],
    ["bool", 216, (w) => w.bool(false), false],
    ["string", 234, (w) => w.string("\u00fc"), "\u00fc"],
  ])("hold values of kind %s", (_, tag, write, value) => {
    const [node] = readTrace(
      "t.et",
      handMade((w) => attribute(w, "comm_size", tag, write)),
    );
    expect(node.attributes.get("comm_size")).toBe(value);
  });

  it("may list what they wait for by data and by control, one by one, have fields of later versions, and attributes that nobody reads", () => {
    const bytes = handMade(
      (w) => void w.uint32(8).uint64(4).uint32(24).int32(4),
      (w) => {
        w.uint32(8).uint64(300).uint32(24).int32(4).uint32(32).uint64(4).uint32(32).uint64(5);
        w.uint32(40).uint64(4).uint32(40).uint64(6).uint32(800).uint64(9);
        attribute(w, "rf_id", 104, (value) => value.uint64(2 ** 40));
      },
    );
    expect(readTrace("t.et", bytes)).toMatchObject([
      { id: 4, deps: [] },
      { id: 300, deps: [4, 5, 6] },
    ]);
  });

  it.each<[string, Uint8Array, string]>([
    ["nothing", new Uint8Array(0), "t.0.et"],
    ["metadata alone", handMade(), "t.0.et"],
    ["gzip", Uint8Array.of(0x1f, 0x8b, 8, 0), "gunzip"],
    ["a node of version 0.0.1", Uint8Array.of(4, 8, 1, 18, 0), "GlobalMetadata"],
    ["attributes of version 0.0.2", handMade((w) => void w.uint32(24).int32(4).uint32(90).string("")), "0.0.4"],
    ["a message that is cut", handMade((w) => void w.uint32(24).int32(4)).subarray(0, 3), "byte 1"],
    ["a type that is none", handMade((w) => void w.uint32(24).int32(12)), "node 0"],
    ["a number beyond doubles", handMade((w) => void w.uint32(8).uint64(2 ** 60)), "byte 3"],
    ["a number without an end", Uint8Array.of(0, 3, 8, 255, 255), "byte 3"],
    ["a group, which is no field", Uint8Array.of(0, 1, 11), "byte 2"],
    ["a text that is none", Uint8Array.of(0, 3, 18, 1, 255), "byte 4"],
  ])("are refused with the place for %s", (_, bytes, words) => {
    expect(refusal([{ name: "t.0.et", bytes }])).toContain(words);
  });

  const one = [comp(0, 1)];
  it.each<[string, TraceFile[], string]>([
    ["no files", [], "the traces"],
    ["a name without a number", [{ name: "t.et", bytes: tracesOf(one)[0].bytes }], "t.et"],
    ["two of a number", [...tracesOf(one), ...tracesOf(one)], "t.0.et"],
    ["two nodes of an id", tracesOf([comp(3, 1), comp(3, 1)]), "two nodes of id 3"],
    ["an id that is not there", tracesOf([comp(3, 1, [9])]), "t.0.et: node 3"],
    ["a circle", tracesOf([comp(3, 1, [4]), comp(4, 1, [3]), comp(5, 1)]), "t.0.et: node 3 can never begin"],
    [
      "a circle through a message",
      tracesOf([comp(1, 1), send(2, 1, 8, [3]), receive(3, 1, 8, [], 1)], [receive(4, 0, 8), send(5, 0, 8, [4], 1)]),
      "in a circle",
    ],
    [
      "a collective without partners",
      tracesOf([coll(0, 0, 8), coll(1, 0, 8)], [coll(0, 0, 8)]),
      "t.0.et: node 1 has no partner",
    ],
    ["a collective of none of the others", tracesOf([coll(0, 0, 8)], one), "t.0.et: node 0 has no partner"],
    ["other sizes", tracesOf([coll(0, 0, 8)], [coll(4, 0, 9)]), "t.1.et: node 4 has comm_size 9"],
    ["other kinds", tracesOf([coll(0, 0, 8)], [coll(4, 2, 8)]), "t.1.et: node 4 has comm_type 2"],
    ["a kind that is none", tracesOf([coll(0, 77, 8)], [coll(0, 77, 8)]), "t.0.et: node 0: comm_type"],
    ["a group that is none", tracesOf([coll(0, 0, 8, [], "5")], one), "t.0.et: node 0 is of group"],
    ["a message without a receive", tracesOf([send(6, 1, 8)], one), "t.0.et: node 6 has no partner"],
    ["a message of another size", tracesOf([send(6, 1, 8)], [receive(2, 0, 9)]), "t.1.et: node 2 receives 9 bytes"],
    ["a message to nobody", tracesOf([send(6, 2, 8)], one), "t.0.et: node 6: comm_dst"],
    ["a message of another NPU", tracesOf([{ ...send(6, 1, 8), comm_src: 1 }], one), "t.0.et: node 6: comm_src"],
    [
      "a message without a tag",
      tracesOf([{ id: 6, type: "send", comm_dst: 1, comm_size: 1 }], one),
      "t.0.et: node 6: comm_tag",
    ],
    ["a text for a number", tracesOf([{ ...coll(0, 0, 8), comm_size: "8" }]), "t.0.et: node 0: comm_size"],
    [
      "remote memory",
      tracesOf([{ id: 6, type: "memoryLoad", tensor_size: 8 }]),
      "t.0.et: node 6 is an access of remote memory",
    ],
    ["a communication of the host", tracesOf([{ ...coll(0, 0, 8), is_cpu_op: true }]), "t.0.et: node 0: is_cpu_op"],
  ])("are refused with the NPUs and nodes for %s", (_, files, words) => {
    expect(refusal(files)).toContain(words);
  });

  it.each([
    ["[0]", "groups.json"],
    ['{"0": [0]}', "groups.json"],
    ['{"1": []}', "groups.json: 1"],
    ['{"1": [0, 0]}', "groups.json: 1[1]"],
    ['{"1": [2]}', "groups.json: 1[0]"],
    ['{"1": [1]}', "t.0.et: node 0 is of group"],
    ["{", "groups.json"],
  ])("are refused where groups are %s", (text, words) => {
    expect(refusal(tracesOf([coll(0, 0, 8, [], "1")], one), { groups: { name: "groups.json", text } })).toContain(
      words,
    );
  });
});
