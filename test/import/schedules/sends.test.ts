import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { sendsCsvParts } from "../../../src/export/schedules/sends-csv.ts";
import { isSendsText } from "../../../src/import/schedules/sends.ts";
import { expanded } from "../../../src/kinds/expand.ts";
import { kindOf } from "../../../src/kinds/kinds.ts";
import type { NamedCollective } from "../../../src/model/collective/collective.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { Schedule } from "../../../src/model/slots/slot-schedule.ts";
import { makespanPs, transferCount } from "../../../src/model/steps/step-schedule.ts";
import type { CollectiveOptions } from "../../../src/request/problem.ts";
import { inRows, readSends } from "../../../src/run/own/own-sends.ts";
import { synthesize } from "../../../src/run/synthesize.ts";
import { runs } from "../../support/runs.ts";

const read = (text: string, topology: string, request: CollectiveOptions) =>
  readSends(text, "mine.csv", { topology: presetTopology(topology), collective: () => request });
const violations = (text: string, topology: string, request: CollectiveOptions): string[] => {
  const sends = read(text, topology, request);
  return inRows(kindOf(sends.schedule), sends)
    .judge()
    .violations.map(({ message }) => message);
};
const rows = (...lines: string[]): string => ["step,src,dst,chunk,op", ...lines, ""].join("\n");
/** Returns the sentence of a list that is refused, and the lines below it. */
function refusal(text: string, topology: string, collective: NamedCollective): string[] {
  try {
    read(text, topology, { collective, sizeBytes: 4096 });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { message, excerpt = "" } = error as InputError & { readonly excerpt?: string };
    return [message, ...excerpt.split("\n").filter((line) => line !== "")];
  }
  return [];
}

const GATHER = { collective: "allgather", sizeBytes: 4e6 } as const;

describe("lists of sends", () => {
  it("are told from edge lists, networks, schedules and algorithms of SCCL", () => {
    expect(isSendsText("# mine\n\nChunk;From;To;Round\n0;1;2;3\n")).toBe(true);
    expect(isSendsText('[{"step":0,"src":0,"dst":1,"chunk":0}]')).toBe(true);
    expect(isSendsText('{"topology":"ring:4","sends":[]}')).toBe(true);
    expect(isSendsText("src,dst,bandwidthGBps,latencyUs\n0,1,2,3\n")).toBe(false);
    expect(isSendsText("SrcID,DestID,Latency (ns),Bandwidth (GB/s),Chunks (ID:ns:ns)\n")).toBe(false);
    expect(isSendsText('{"sccl_type":"algorithm","steps":[{"sends":[[0,0,1]]}]}')).toBe(false);
    expect(isSendsText('{"format":"banyan-topology"}')).toBe(false);
  });

  it("start as early as data and links allow, in the order of their rows", () => {
    // two chunks over one link, then on: 1 MB at 50 GB/s and 0.5 us of latency are 20.5 us
    const { schedule } = read(rows("0,0,1,0,", "0,0,1,1,", "1,1,2,0,"), "ring:4", {
      collective: "broadcast",
      sizeBytes: 2e6,
      chunks: 2,
    });
    expect([...schedule.startPs]).toEqual([0, 20_500_000, 20_500_000]);
    expect([...schedule.chunk]).toEqual([0, 1, 0]);
  });

  it("take as many chunks per NPU as the greatest needs, and say so", () => {
    const { schedule, notes } = read(rows("0,0,1,7,copy"), "ring:4", GATHER);
    expect(schedule.collective.chunksPerNpu).toBe(2);
    expect(notes).toEqual(["mine.csv: 2 chunks per NPU, as its greatest chunk needs (--chunks)"]);
  });

  it("take a chunk for wrong that leaves most of those below it out, where a whole set is named", () => {
    const ring = ["0,0,1,0,", "0,1,2,1,", "0,2,3,2,", "0,3,0,3,"];
    expect(refusal(rows(...ring, "1,0,1,9,"), "ring:4", "allgather")).toEqual([
      "mine.csv row 6: chunk 9 is not there: this all-gather has 4 chunks (0 to 3), 1 per NPU (--chunks says another number)",
    ]);
    expect(read(rows(...ring, "1,0,1,7,"), "ring:4", GATHER).schedule.collective.chunksPerNpu).toBe(2);
  });

  it("name chunks by number, by NPU and index, or by both ends", () => {
    const chunkOf = (cell: string, collective: NamedCollective, chunks = 2): number | undefined =>
      read(rows(`0,0,1,${cell},`), "ring:4", { collective, sizeBytes: 4096, chunks }).schedule.chunk[0];
    expect(chunkOf("5", "allgather")).toBe(5);
    expect(chunkOf("2.1", "allgather")).toBe(5);
    expect(chunkOf("2:3.1", "alltoall")).toBe(23);
    expect(chunkOf("2.7", "alltoall")).toBe(23);
    expect(chunkOf("0.1", "broadcast")).toBe(1);
  });

  it("carry in a step what their sources hold before it, so two NPUs may exchange sums", () => {
    const request = { collective: "allreduce", sizeBytes: 4096, chunks: 1 } as const;
    const exchange = ["0", "1"].flatMap((chunk) => [`0,0,1,${chunk},sum`, `0,1,0,${chunk},sum`]);
    expect(violations(rows(...exchange), "ring:2", request)).toEqual([]);
    // over one link after the other, the second would bring the first one's back
    const { schedule } = read(rows(...exchange), "ring:2", request);
    expect(
      schedule.startPs.every((start, i) =>
        schedule.endPs.every((end, j) => schedule.chunk[i] !== schedule.chunk[j] || start < end),
      ),
    ).toBe(true);
  });

  it("sum until their source holds the whole, where no op is said", () => {
    const ring = Array.from({ length: 6 }, (_, step) =>
      Array.from({ length: 4 }, (__, npu) => `${step},${npu},${(npu + 1) % 4},${(npu - step + 8) % 4},`),
    ).flat();
    const request = { collective: "allreduce", sizeBytes: 4096, chunks: 1 } as const;
    expect(violations(rows(...ring), "ring:4", request)).toEqual([]);
    expect(read(rows(...ring), "ring:4", request).inferred).toBe(24);
    expect(violations(rows(...ring.slice(0, -1)), "ring:4", request)).toHaveLength(1);
  });

  it("are wrong where a chunk is sent before it is there, though a link is busy until it is", () => {
    const early = rows("0,0,1,0,", "0,0,1,1,", "1,1,2,2,", "2,0,1,2,", "3,0,1,3,");
    expect(violations(early, "ring:3", { collective: "broadcast", sizeBytes: 3e6, chunks: 4 })).toContain(
      "row 4: NPU 1 sends chunk 2 in step 1 before it holds it; it receives it in step 2 (row 5)",
    );
    expect(violations(rows("0,1,2,0,"), "ring:3", { collective: "broadcast", sizeBytes: 3e6 })).toContain(
      "row 2: NPU 1 sends chunk 0 in step 0 before it holds it; it never receives it",
    );
    // what comes in the same step comes too late
    expect(violations(rows("0,0,1,0,", "0,1,2,0,"), "ring:3", { collective: "broadcast", sizeBytes: 3e6 })).toEqual([
      "row 3: NPU 1 sends chunk 0 in step 0 before it holds it; it receives it in step 0 (row 2)",
    ]);
  });

  it("are refused with the rows that are wrong, the first twenty of them", () => {
    expect(refusal(rows("0,0,12,0,", "# x", "0,0,5,0,", "0,3,3,0,", "0,0,1,99,sum"), "mesh:3x3", "allgather")).toEqual([
      "mine.csv row 2: 12 is no NPU of mesh:3x3 (0 to 8)",
      "row 4: mesh:3x3 has no link 0>5; the nearest way is 0>1>2>5",
      "row 5: NPU 3 sends to itself",
      "row 6: nothing is added in an all-gather; op is copy",
    ]);
    const many = Array.from({ length: 50 }, (_, i) => `x${i},0,1,0,`);
    const said = refusal(rows(...many), "ring:4", "allgather");
    expect(said).toHaveLength(21);
    expect(said[0]).toBe("mine.csv row 2: x0 is no step; steps are whole numbers from 0 on");
    expect(said.at(-1)).toBe("... and 30 more");
    expect(refusal("step,src,chunk,dst,op\n0,0,0,1,put\n", "ring:4", "allgather")[0]).toMatch(
      /put is no op; it is copy or sum/,
    );
    expect(refusal("src,dst,chunk\n0,1,0\n", "ring:4", "allgather")[0]).toMatch(/has no column step/);
  });
});

describe("schedules of ours as lists of sends", () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine({ threads: 0 });
  });
  afterAll(() => engine.close());

  it("read back correct, with every transfer, and no later than planned", async () => {
    const cases = fc.record({
      topology: fc.constantFrom(
        "ring:5",
        "mesh:2x3",
        "mesh:3x3",
        "torus:3x3",
        "hypercube:3",
        "fc:4",
        "circulant:7,1,2",
      ),
      collective: fc.constantFrom<NamedCollective>(
        "allgather",
        "allreduce",
        "reducescatter",
        "broadcast",
        "reduce",
        "alltoall",
      ),
      chunks: fc.integer({ min: 1, max: 3 }),
      seed: fc.nat(1000),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ topology, collective, chunks, seed }) => {
        const network = presetTopology(topology);
        const request = { collective, chunks, sizeBytes: 1e6 };
        const { schedule } = await synthesize(
          engine,
          network,
          { ...request, algorithm: "tacos", seed, trials: 2 },
          false,
        );
        const steps = expanded(schedule as Schedule, "here");
        const text = [...sendsCsvParts(steps)].join("");
        const again = readSends(text, "mine.csv", { topology: network, collective: () => request }).schedule;
        expect(kindOf(again).judge().violations).toEqual([]);
        expect(transferCount(again)).toBe(transferCount(steps));
        expect(makespanPs(again)).toBeLessThanOrEqual(makespanPs(steps));
      }),
      { numRuns: runs(40) },
    );
  });
});
