import fc from "fast-check";
import protobuf from "protobufjs";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { type ComputationTimes, chakraTraces } from "../../../src/export/workloads/chakra.ts";
import { readAstraText } from "../../../src/import/workloads/astra-text.ts";
import { type ChakraOptions, readChakra } from "../../../src/import/workloads/chakra.ts";
import type { Parallelism } from "../../../src/model/workload/parallelism.ts";
import { type PlacedTasks, placedStep } from "../../../src/model/workload/placed-tasks.ts";
import { coll, comp, receive, send, tracesOf } from "../../support/chakra-bytes.ts";
import { BYTE_A_NS, timesOf } from "../../support/placed-costs.ts";
import { runs, seen } from "../../support/runs.ts";
import { type SmallStep, smallStep } from "../../support/small-steps.ts";

/** The fields of et_def.proto (MLCommons Chakra) that occur in workloads of ours, by number. */
const FIELDS = `
  syntax = "proto3";
  message AttributeProto {
    string name = 1;
    oneof value { int32 int32_val = 7; int64 int64_val = 9; uint64 uint64_val = 13; bool bool_val = 27; string string_val = 29; }
  }
  message GlobalMetadata { string version = 1; repeated AttributeProto attr = 2; }
  message Node {
    uint64 id = 1; string name = 2; int32 type = 3; repeated uint64 ctrl_deps = 4; repeated uint64 data_deps = 5;
    uint64 start_time_micros = 6; uint64 duration_micros = 7; repeated AttributeProto attr = 10;
  }`;
const { root } = protobuf.parse(FIELDS, { keepCase: true });

const SIZES: SmallStep = {
  mesh: { tensor: 2, data: 2, pipeline: 2 },
  microBatches: 4,
  layersOfStage: 3,
  forwardNs: 5000,
  backwardNs: 9000,
  updateNs: 2000,
  tensorBytes: 1000,
  gradientBytes: 20_000,
  boundaryBytes: 3000,
};

interface Written {
  readonly traces: { readonly name: string; readonly bytes: Uint8Array }[];
  readonly groups: { readonly name: string; readonly text: string } | null;
}

function written(placed: PlacedTasks, times: ComputationTimes = {}): Written {
  const files = [...chakraTraces(placed, "w", times)];
  const groups = files.find(({ name }) => name === "w-groups.json");
  return {
    traces: files.filter((file) => file !== groups),
    groups: groups === undefined ? null : { name: groups.name, text: new TextDecoder().decode(groups.bytes) },
  };
}

/** Returns tasks as they are read from the traces that they are written to. */
function again(placed: PlacedTasks, options: ChakraOptions = {}, times: ComputationTimes = {}): PlacedTasks {
  const { traces, groups } = written(placed, times);
  return readChakra(traces, { ...options, groups });
}

const psOf = (placed: PlacedTasks): number => timesOf(placed, (bytes, size) => bytes * 1000 + size).ps;

describe("traces of steps for ASTRA-sim", () => {
  it("are nodes of the kinds that its feeders look for", () => {
    const { traces, groups } = written(placedStep(smallStep(SIZES)));
    expect(traces.map(({ name }) => name)).toEqual(Array.from({ length: 8 }, (_, npu) => `w.${npu}.et`));
    expect(JSON.parse(groups?.text ?? "")).toEqual({
      1: [0, 1],
      2: [0, 2],
      3: [1, 3],
      4: [2, 3],
      5: [4, 5],
      6: [4, 6],
      7: [5, 7],
      8: [6, 7],
    });
    const kinds = new Map<string, Set<string>>();
    for (const { bytes } of traces) {
      const reader = protobuf.Reader.create(bytes);
      reader.bytes();
      const seen = new Set<number>();
      while (reader.pos < reader.len) {
        const message = reader.bytes();
        const node = root.lookupType("Node").decode(message);
        expect(root.lookupType("Node").encode(node).finish().length).toBe(message.length);
        const {
          id,
          type,
          data_deps: deps,
          attr,
        } = root.lookupType("Node").toObject(node, { longs: Number, defaults: true, oneofs: true });
        // behind those that it waits for, as readers by windows need it
        for (const dep of deps) expect(seen.has(dep)).toBe(true);
        expect(id).toBe(seen.size);
        seen.add(id);
        const known = kinds.get(`${type}`) ?? new Set();
        kinds.set(`${type}`, known);
        for (const { name, value } of attr) if (!name.startsWith("banyan_")) known.add(`${name} ${value}`);
      }
    }
    const all = Object.fromEntries([...kinds].map(([type, names]) => [type, [...names].sort()]));
    expect(all).toEqual({
      4: ["is_cpu_op bool_val", "num_ops int64_val", "tensor_size uint64_val"],
      5: ["comm_dst int32_val", "comm_size int64_val", "comm_tag int32_val", "is_cpu_op bool_val"],
      6: ["comm_size int64_val", "comm_src int32_val", "comm_tag int32_val", "is_cpu_op bool_val"],
      7: ["comm_size int64_val", "comm_type int64_val", "is_cpu_op bool_val", "pg_name string_val"],
    });
  });

  const meshes: Partial<Parallelism>[] = [
    { data: 4 },
    { tensor: 4 },
    { pipeline: 4 },
    { pipeline: 3, tensor: 2 },
    { tensor: 2, data: 2, pipeline: 2 },
    { pipeline: 3, data: 2, order: ["pipeline", "data", "tensor", "context"] },
    { pipeline: 4, interleaved: 2 },
  ];
  it.each(meshes)("read back to tasks that take as long, an actor for each stage: %o", (mesh) => {
    const placed = placedStep(smallStep({ ...SIZES, mesh }));
    const folded = again(placed);
    const each = again(placed, { folds: false });
    expect(psOf(folded)).toBe(psOf(placed));
    expect(psOf(each)).toBe(psOf(placed));
    expect(folded.npus.map((npus) => [...npus])).toEqual(placed.npus.map((npus) => [...npus]));
    expect(each.npus.length).toBe(placed.npuCount);
  });

  it("read back to the same tasks, and those to the same once more", () => {
    const placed = placedStep(smallStep(SIZES));
    const first = again(placed);
    expect(again(first)).toEqual(first);
    const told = ({ tasks }: PlacedTasks): string[] =>
      Array.from(tasks.work, (work, t) => {
        const what = tasks.works[work];
        const kind =
          what.kind === "communication"
            ? `${what.communication.collective} ${what.communication.bytes}`
            : what.computations.map(({ givenPs }) => givenPs).join(" ");
        return `${tasks.lanes[tasks.lane[t]].actor} ${tasks.labels[tasks.label[t]]} ${tasks.phase[t]} ${tasks.microBatch[t]} ${kind}`;
      }).sort();
    expect(told(first)).toEqual(told(placed));
    const each = again(placed, { folds: false });
    expect(again(each, { folds: false })).toEqual(each);
  });

  it("tell times, those of given ones too, in whole microseconds and exactly, and operations and bytes", () => {
    const placed = placedStep(smallStep({ ...SIZES, mesh: {} }));
    const computations = (read: PlacedTasks) =>
      read.tasks.works.flatMap((work) => (work.kind === "computations" ? work.computations : []));
    const [first] = computations(again(placed));
    expect(first).toEqual({ name: "forward", kind: "matmul", flops: 5_000_000, bytes: 5000, givenPs: 5_000_000 });
    const [operations] = computations(again(placed, { times: "operations" }));
    expect(operations.givenPs).toBeUndefined();
    const [exact] = computations(again(placed, {}, { asOperations: true }));
    expect(exact).toMatchObject({ flops: 5_000_000, bytes: 1, givenPs: 5_000_000 });
  });

  it("have times of computations that are told by operations alone, where they are asked for", () => {
    const placed = readChakra(tracesOf([{ id: 0, type: "computation", num_ops: 700, tensor_size: 20 }]));
    expect(again(placed)).toEqual(placed);
    const timed = again(placed, {}, { psOf: ({ flops }) => flops * 3000 });
    expect(timed.tasks.works).toMatchObject([{ computations: [{ flops: 700, givenPs: 2_100_000 }] }]);
    expect(() => written(placed, { asOperations: true })).toThrow(InputError);
  });

  it("keep what receives wait for, and NPUs that do nothing", () => {
    const placed = readChakra(
      tracesOf(
        [comp(0, 10), send(1, 1, 5000, [0])],
        [comp(2, 40), receive(0, 0, 5000, [2]), comp(1, 7, [0])],
        [comp(0, 0)],
      ),
    );
    expect(psOf(again(placed))).toBe(psOf(placed));
    expect(psOf(placed)).toBe(47e6);
  });

  it("keep delays beside computations, and computations of the host", () => {
    const rows = ["a -1 10 NONE 0 20 NONE 0 3000 ALLREDUCE 100 5000", "b -1 11 NONE 0 21 NONE 0 31 ALLREDUCE 50 7000"];
    const delayed = placedStep(readAstraText(["DATA", "2", ...rows].join("\n"), "w.txt", { npus: 4 }));
    const host = readChakra(tracesOf([comp(0, 10), { ...comp(1, 9), is_cpu_op: true }]));
    for (const placed of [delayed, host]) expect(psOf(again(placed))).toBe(psOf(placed));
  });

  it("refuse tasks that wait for what none of their NPUs does", () => {
    const placed = readChakra(tracesOf([comp(0, 10)], [comp(0, 10), comp(1, 5, [0])]));
    const tasks = { ...placed.tasks, awaited: Int32Array.of(0) };
    expect(() => written({ ...placed, tasks })).toThrow(InputError);
  });

  it("are read or refused, however they are changed", () => {
    const { traces, groups } = written(
      placedStep(smallStep({ ...SIZES, mesh: { tensor: 2, pipeline: 2 }, layersOfStage: 1, microBatches: 2 })),
    );
    let refused = 0;
    fc.assert(
      fc.property(
        fc.nat(traces.length - 1),
        fc.option(fc.nat(traces[0].bytes.length - 1)),
        fc.array(fc.tuple(fc.nat(traces[0].bytes.length - 1), fc.nat(7)), { maxLength: 4 }),
        (npu, cut, flips) => {
          const bytes = traces[npu].bytes.slice(0, cut ?? undefined);
          for (const [at, bit] of flips) bytes[at % bytes.length] ^= 1 << bit;
          try {
            psOf(readChakra(traces.with(npu, { ...traces[npu], bytes }), { groups }));
          } catch (error) {
            expect(error).toBeInstanceOf(InputError);
            refused++;
          }
        },
      ),
      { numRuns: runs(1000) },
    );
    expect(refused).toBeGreaterThan(seen(500));
  });

  it("of random nodes are read alike with and without actors for several NPUs", () => {
    const node = fc.tuple(fc.constantFrom("comp", "coll"), fc.integer({ min: 1, max: 3 }), fc.nat(5));
    fc.assert(
      fc.property(
        fc.array(node, { minLength: 1, maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 4, maxLength: 4 }),
        (nodes, factors) => {
          const traces = tracesOf(
            ...factors.map((factor, npu) =>
              nodes.map(([kind, size, dep], i) => {
                const deps = i === 0 ? [] : [Math.min(dep, i - 1)];
                return kind === "comp"
                  ? comp(i, size * factor, deps)
                  : coll(i, 0, size * 1000, deps, size === 1 ? "" : `${1 + (npu >> 1)}`);
              }),
            ),
          );
          const groups = { name: "g", text: '{"1": [0, 1], "2": [2, 3]}' };
          const [folded, each] = [true, false].map(
            (folds) => timesOf(readChakra(traces, { groups, folds }), BYTE_A_NS).ps,
          );
          expect(folded).toBe(each);
          expect(psOf(again(readChakra(traces, { groups })))).toBe(psOf(readChakra(traces, { groups, folds: false })));
        },
      ),
    );
  });
});
