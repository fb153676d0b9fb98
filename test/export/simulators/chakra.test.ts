import protobuf from "protobufjs";
import { describe, expect, it } from "vitest";
import { loadKernels } from "../../../src/engine/kernels/load.ts";
import { chakraFiles, chakraWorkload, type SendOrder } from "../../../src/export/simulators/astra.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { OP_REDUCE, type StepSchedule, transferCount } from "../../../src/model/steps/step-schedule.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { queuedPs } from "../../support/astra-queues.ts";
import { hasSharedData, sharedText } from "../../support/shared-data.ts";
import { synthesizeWith, wholeCollective } from "../../support/synthesis.ts";

/** The fields of et_def.proto (MLCommons Chakra) that occur in traces of ours, by number. */
const FIELDS = `
  syntax = "proto3";
  message AttributeProto {
    string name = 1;
    oneof value { int32 int32_val = 7; int64 int64_val = 9; bool bool_val = 27; string string_val = 29; }
  }
  message GlobalMetadata { string version = 1; repeated AttributeProto attr = 2; }
  message Node {
    uint64 id = 1; string name = 2; int32 type = 3; repeated uint64 ctrl_deps = 4; repeated uint64 data_deps = 5;
    uint64 start_time_micros = 6; uint64 duration_micros = 7; repeated AttributeProto attr = 10;
  }`;

interface Decoded {
  readonly id: number;
  readonly name: string;
  readonly type: number;
  readonly deps: readonly number[];
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Which field of the oneof each attribute has. */
  readonly kinds: readonly string[];
}

/** Returns the messages of a trace, each behind its length, as the schema reads them; fails on unknown fields. */
function decoded(bytes: Uint8Array, schema: string): { metadata: Record<string, unknown>; nodes: Decoded[] } {
  const { root } = protobuf.parse(schema, { keepCase: true });
  const find = (name: string) => root.lookupType(name);
  const reader = protobuf.Reader.create(bytes);
  const plain = (type: string, message: Uint8Array) => {
    const value = find(type).decode(message);
    expect(find(type).encode(value).finish().length).toBe(message.length);
    return find(type).toObject(value, { longs: Number, enums: Number, defaults: true, oneofs: true });
  };
  const valuesOf = (attributes: Record<string, unknown>[]): Record<string, unknown> =>
    Object.fromEntries(
      attributes.map((attribute) => [String(attribute["name"]), attribute[String(attribute["value"])]]),
    );
  const metadata = valuesOf(plain("GlobalMetadata", reader.bytes())["attr"]);
  const nodes: Decoded[] = [];
  while (reader.pos < reader.len) {
    const { id, name, type, data_deps: deps, attr } = plain("Node", reader.bytes());
    const kinds = attr.map((attribute: Record<string, unknown>) => `${attribute["name"]} ${attribute["value"]}`);
    nodes.push({ id, name, type, deps, attributes: valuesOf(attr), kinds });
  }
  return { metadata, nodes };
}

const schemas: readonly [string, () => string][] = [
  ["the fields by number", () => FIELDS],
  ...(hasSharedData ? [["et_def.proto", () => sharedText("astra-sim/et_def.proto")] as [string, () => string]] : []),
];

async function ringGather(kind: "allgather" | "allreduce"): Promise<StepSchedule> {
  const topology = presetTopology("ring:8");
  const { kernels } = await loadKernels("js");
  const { schedule } = await synthesizeWith(
    kernels,
    { topology, collective: wholeCollective(topology, kind, 2 ** 20), trials: 1 },
    { algorithm: "ring" },
  );
  return schedule;
}

/** Returns the traces of all NPUs. */
const tracesOf = (schedule: StepSchedule, schema: string, order: SendOrder = "arrival") =>
  [...chakraFiles(schedule, "c", order)].map(({ bytes }) => decoded(bytes, schema).nodes);

describe("Chakra execution traces", () => {
  it.each(schemas)("of a ring all-gather on 8 NPUs are its transfers, node by node: %s", async (_, schemaText) => {
    const schema = schemaText();
    const schedule = await ringGather("allgather");
    const { routes, route, chunk, endPs, startPs } = schedule;
    expect([...chakraFiles(schedule, "ag", "arrival")].map(({ name }) => name)).toEqual(
      Array.from({ length: 8 }, (_, npu) => `ag.${npu}.et`),
    );
    const tags = new Map<string, number>();
    const tagOf = Array.from(route, (r) => {
      const pair = `${routes.source[r]}>${routes.target[r]}`;
      tags.set(pair, (tags.get(pair) ?? -1) + 1);
      return tags.get(pair);
    });
    tracesOf(schedule, schema).forEach((nodes, npu) => {
      const rows = Array.from(route.keys());
      const expected = [
        ...rows.filter((i) => routes.source[route[i]] === npu).map((i) => ({ ps: startPs[i], order: 1, i })),
        ...rows.filter((i) => routes.target[route[i]] === npu).map((i) => ({ ps: endPs[i], order: 0, i })),
      ].sort((a, b) => a.ps - b.ps || a.order - b.order || a.i - b.i);
      expect(nodes.map(({ id }) => id)).toEqual(expected.map((_, id) => id));
      expected.forEach(({ order, i }, id) => {
        const peer = order === 1 ? routes.target[route[i]] : routes.source[route[i]];
        const [type, word, end] = order === 1 ? [5, "SEND", "to"] : [6, "RECV", "from"];
        expect(nodes[id]).toEqual({
          id,
          name: `COMM_${word}_NODE_chunk${chunk[i]}_${end}${peer}`,
          type,
          deps: expect.any(Array),
          attributes: {
            comm_type: order === 1 ? 5 : 6,
            comm_size: 2 ** 17,
            [order === 1 ? "comm_dst" : "comm_src"]: peer,
            comm_tag: tagOf[i],
          },
          // in the order and of the types of ASTRA-sim's own custom_allreduce traces
          kinds: [
            "comm_type int64_val",
            "comm_size int64_val",
            `${order === 1 ? "comm_dst" : "comm_src"} int32_val`,
            "comm_tag int32_val",
          ],
        });
      });
      // a ring forwards what came last: every send but the first waits for that, and for the send before it
      const sends = nodes.filter(({ type }) => type === 5);
      for (const [k, { id, deps }] of sends.entries()) {
        const received = nodes.find(
          ({ type, name }) => type === 6 && name.split("_")[3] === nodes[id].name.split("_")[3],
        );
        const before = k === 0 ? [] : [(sends[k - 1] as Decoded).id];
        const forwarded = received !== undefined && received.id < id ? [received.id] : [];
        expect([...deps].sort()).toEqual([...forwarded, ...before].sort());
      }
    });
  });

  it.each(["allgather", "allreduce"] as const)(
    "of a ring %s run to their end, in the time of the schedule",
    async (kind) => {
      const schedule = await ringGather(kind);
      const traces = tracesOf(schedule, FIELDS);
      const sizes = traces.map((nodes) => nodes.length);
      const reductions = schedule.op.filter((op) => op === OP_REDUCE).length;
      expect(sizes.reduce((a, b) => a + b)).toBe(2 * transferCount(schedule) + reductions);
      expect(finishPs(schedule, traces)).toBe(schedule.endPs.reduce((a, b) => Math.max(a, b)));
    },
  );

  it("waits for every addition of what it sends, in their order", async () => {
    const schedule = await ringGather("allreduce");
    for (const nodes of tracesOf(schedule, FIELDS)) {
      for (const { type, deps, id, name } of nodes) {
        if (type !== 4) continue;
        expect(nodes[deps[0] as number]).toMatchObject({ type: 6, id: id - 1 });
        expect(nodes[id - 1].name).toBe(name.replace("COMP", "COMM_RECV"));
      }
    }
  });

  it("gives an NPU without transfers one node, and rounds a chunk's bytes up", async () => {
    const schedule = await ringGather("allgather");
    const odd = { ...schedule, collective: wholeCollective(schedule.topology, "allgather", 1001) };
    expect(tracesOf(odd, FIELDS)[0]?.[0]?.attributes["comm_size"]).toBe(126);
    const none = { ...schedule, chunk: new Uint8Array(0), route: new Uint8Array(0), op: new Uint8Array(0) };
    expect(tracesOf(none, FIELDS).map((nodes) => nodes.map(({ name, type }) => [name, type]))).toEqual(
      Array.from({ length: 8 }, () => [["COMP_NODE_idle", 4]]),
    );
  });

  it("starts the collective by one node", async () => {
    const [file] = [...chakraWorkload(await ringGather("allgather"), "w")];
    const { metadata, nodes } = decoded((file as { bytes: Uint8Array }).bytes, FIELDS);
    expect(metadata).toEqual({ schema: "1.0.2-chakra.0.0.4" });
    expect(nodes).toEqual([
      {
        id: 0,
        name: "COMM_COLL_NODE_all-gather",
        type: 7,
        deps: [],
        attributes: { is_cpu_op: false, comm_type: 2, comm_size: 2 ** 17 },
        kinds: ["is_cpu_op bool_val", "comm_type int64_val", "comm_size int64_val"],
      },
    ]);
  });
});

describe("Traces whose sends are issued in the order of their data", () => {
  const CASES = [
    ["ring:8", "allgather", "tacos", 1],
    ["ring:8", "allreduce", "ring", 2],
    // far chunks pass others on their way: out of order they take 1.1 times as long
    ["ring:8", "alltoall", "tacos", 1],
    ["mesh:3x4", "allgather", "tacos", 2],
    ["torus:3x3", "allreduce", "tacos", 3],
    ["switch:8", "allgather", "tacos", 1],
    ["hypercube:3", "reducescatter", "tacos", 4],
    ["fc:5", "scatter", "tacos", 3],
    ["torus:3x4@100,25GB/s", "allgather", "tacos", 1],
  ] as const;

  it.each(CASES)(
    "take as long in queues as the schedule simulated, on %s: %s by %s",
    async (preset, kind, algorithm, chunks) => {
      const topology = presetTopology(preset);
      const { kernels } = await loadKernels("js");
      const collective = wholeCollective(topology, kind, 2 ** 20, chunks);
      const { schedule } = await synthesizeWith(kernels, { topology, collective, trials: 1 }, { algorithm });
      const bytes = Number(collective.chunkBytes.num / collective.chunkBytes.den);
      const { ps } = simulateSchedule(schedule, { switching: "store-and-forward" });
      const queued = queuedPs(schedule, tracesOf(schedule, FIELDS, "data"), bytes);
      // a COMP, of an addition or for the order, takes 1 ns
      expect(queued).toBeGreaterThan(ps * 0.999);
      expect(queued).toBeLessThan(ps * 1.001 + 50_000);
    },
  );

  it("has no node for the order where arrivals keep it", async () => {
    for (const kind of ["allgather", "allreduce"] as const) {
      const traces = tracesOf(await ringGather(kind), FIELDS, "data");
      expect(traces.flat().filter(({ name }) => name.startsWith("COMP_NODE_order"))).toEqual([]);
    }
  });
});

/**
 * Returns when the last node is complete where a send lasts as in the schedule, a receive ends with its send, and an addition
 * takes no time: a list of nodes that are ready, until none is left. Fails where some never become ready.
 */
function finishPs(schedule: StepSchedule, traces: readonly Decoded[][]): number {
  const lasts = schedule.endPs[0] - schedule.startPs[0];
  const done = traces.map((nodes) => new Array<number | undefined>(nodes.length).fill(undefined));
  const sendOf = new Map<string, [number, number]>();
  traces.forEach((nodes, npu) => {
    for (const { id, type, attributes: a } of nodes) {
      if (type === 5) sendOf.set(`${npu}>${a["comm_dst"]} ${a["comm_tag"]}`, [npu, id]);
    }
  });
  let left = done.flat().length;
  for (let progress = true; progress && left > 0; ) {
    progress = false;
    traces.forEach((nodes, npu) => {
      for (const { id, type, deps, attributes: a } of nodes) {
        const waits = deps.map((dep) => done[npu]?.[dep]);
        if (type === 6) {
          const [from, send] = sendOf.get(`${a["comm_src"]}>${npu} ${a["comm_tag"]}`) as [number, number];
          waits.push(done[from]?.[send]);
        }
        if (done[npu]?.[id] !== undefined || waits.includes(undefined)) continue;
        const ready = Math.max(0, ...(waits as number[]));
        (done[npu] as number[])[id] = ready + (type === 5 ? lasts : 0);
        left--;
        progress = true;
      }
    });
  }
  expect(left).toBe(0);
  return Math.max(...(done.flat() as number[]));
}
