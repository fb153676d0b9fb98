import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { type AstraTextOptions, readAstraText } from "../../../src/import/workloads/astra-text.ts";
import { groupMembers, groupSizeOf } from "../../../src/model/workload/parallelism.ts";
import { placedStep } from "../../../src/model/workload/placed-tasks.ts";
import type { TrainingStep } from "../../../src/model/workload/training-step.ts";
import { BYTE_A_NS, timesOf } from "../../support/placed-costs.ts";
import { runs } from "../../support/runs.ts";

const read = (lines: readonly string[], options: Partial<AstraTextOptions> = {}): TrainingStep =>
  readAstraText(lines.join("\n"), "work.txt", { npus: 4, ...options });

/** Returns the nanoseconds of a step whose communications take a ns for each byte. */
const nsOf = (step: TrainingStep): number => timesOf(placedStep(step), BYTE_A_NS).ps / 1000;

/** Returns the communications of a step: what, and among whom. */
const communicated = (step: TrainingStep): string[] =>
  placedStep(step).tasks.works.flatMap((work) =>
    work.kind === "communication"
      ? [
          `${work.communication.name}: ${work.communication.collective} ${work.communication.bytes} ${work.communication.group}`,
        ]
      : [],
  );

const TWO = [
  "a -1 10 ALLGATHER 4 20 ALLREDUCE 100 30 ALLREDUCE 100 5",
  "b -1 11 ALLGATHER 4 21 ALLREDUCE 6 31 ALLREDUCE 50 7",
];

describe("ASTRA-sim workload texts", () => {
  it("of data parallelism overlap the sums of weight gradients, one after the other, each with its update", () => {
    // forward 10, 11; weights b 31 at 52, sum to 102, update to 109; inputs b 21 at 73; weights a 30 at 103, sum to 203, update
    expect(nsOf(read(["DATA", "2", ...TWO]))).toBe(208);
  });

  it("of model parallelism wait for activations, and for gradients of inputs before the next layer", () => {
    // parts of 4 bytes among 4 are 16: forward a 10 + 16 + 5, b 11 + 16 + 7 at 65; inputs b 21 at 86, sum to 92, update to 99;
    // weights b 31 at 117; inputs a 20, weights a 30
    expect(nsOf(read(["MODEL", "2", ...TWO]))).toBe(167);
  });

  it("of a transformer sum the gradients of the first input too", () => {
    const step = read(["HYBRID_TRANSFORMER model_parallel_NPU_group: 4", "2", ...TWO]);
    // as above up to the inputs of a at 137, whose sum ends at 237 and update at 242
    expect(nsOf(step)).toBe(242);
    expect(step.parallelism).toMatchObject({ tensor: 4, data: 1 });
  });

  it("compute layers again from the checkpoint before them, with their communications", () => {
    const first =
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 1 0 checkpoint_initiates: 1 1";
    // forward a again: 10 + 16 + 5
    expect(nsOf(read([first, "2", ...TWO]))).toBe(242 + 31);
  });

  it("of inference run forward alone", () => {
    expect(nsOf(read(["DISTRIBUTED_INFERENCE", "2", ...TWO]))).toBe(65);
  });

  it("of one collective are that of the first layer", () => {
    const step = read(["MICRO", "2", ...TWO]);
    expect(communicated(step)).toEqual(["weight gradients of a: allreduce 100 all"]);
    expect(nsOf(step)).toBe(105);
  });

  it("of recommendation models exchange embeddings beside the bottom layers", () => {
    const rows = (exchange: number): string[] => [
      `embedding -1 10 ALLTOALL ${exchange} 10 ALLTOALL ${exchange} 10 NONE 0 1`,
      "bottom -1 20 NONE 0 30 NONE 0 40 NONE 0 0",
      "top -1 50 NONE 0 60 NONE 0 70 NONE 0 0",
    ];
    // all computations but input gradients of the embedding: 10 + 20 + 50, and back 130 + 70 + 10
    expect(nsOf(read(["HYBRID_DLRM 1", "3", ...rows(15)]))).toBe(290);
    // beyond the bottom layer's 20 forward, and its 80 on the way back
    expect(nsOf(read(["HYBRID_DLRM 1", "3", ...rows(100)]))).toBe(290 + 81 + 21);
    expect(nsOf(read(["HYBRID_DLRM_ENHANCED 1", "3", ...rows(100)]))).toBe(290 + 81 + 21);
    const [bottom, top] = read(["HYBRID_DLRM_ENHANCED 1", "3", ...rows(100)]).stages[0];
    expect([bottom.layer.name, top.layer.name]).toEqual(["embedding to bottom", "top"]);
    expect(bottom.layer.backward.outputs).toHaveLength(1);
  });

  it.each([
    ["DATA", null, [], [[0, 1, 2, 3]]],
    ["MODEL", null, [[0, 1, 2, 3]], []],
    [
      "HYBRID_DATA_MODEL",
      2,
      [
        [0, 1],
        [2, 3],
      ],
      [
        [0, 2],
        [1, 3],
      ],
    ],
    [
      "HYBRID_MODEL_DATA",
      2,
      [
        [0, 2],
        [1, 3],
      ],
      [
        [0, 1],
        [2, 3],
      ],
    ],
    [
      "HYBRID_TRANSFORMER model_parallel_NPU_group: 2",
      null,
      [
        [0, 1],
        [2, 3],
      ],
      [
        [0, 2],
        [1, 3],
      ],
    ],
  ] as const)("of %s have the groups of ASTRA-sim", (first, modelNpus, activations, weights) => {
    const step = read([first, "2", ...TWO], { modelNpus });
    const groupsOf = (what: string): number[][] => {
      const all = step.stages[0].flatMap(({ layer }) => [...layer.forward.parts, ...layer.backward.parts]);
      const group = all.flatMap((part) =>
        "communication" in part && part.communication.name.startsWith(what) ? [part.communication.group] : [],
      )[0];
      if (group === undefined) return [];
      const members = [...groupMembers(step.parallelism, group)];
      const size = groupSizeOf(step.parallelism, group);
      return Array.from({ length: 4 / size }, (_, g) => members.slice(g * size, g * size + size));
    };
    expect(groupsOf("activations")).toEqual(activations);
    expect(groupsOf("weight gradients")).toEqual(weights);
  });

  it("may say of each layer how it is split", () => {
    const kinds = ["DATA", "MODEL", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA"];
    const rows = kinds.map((kind, i) => `${i} -1 1 ALLTOALL 8 1 NONE 0 1 REDUCESCATTER 8 0 ${kind}`);
    expect(communicated(read(["HYBRID_CUSTOMIZED", "4", ...rows], { modelNpus: 2 })).sort()).toEqual([
      "activations of 1: alltoall 8 all",
      "activations of 2: alltoall 8 tensor",
      "activations of 3: alltoall 8 data",
      "weight gradients of 0: reducescatter 8 all",
      "weight gradients of 2: reducescatter 8 data",
      "weight gradients of 3: reducescatter 8 tensor",
    ]);
  });

  it("may have tabs, carriage returns, empty lines, and times in microseconds", () => {
    const text = `DATA\t\t\r\n2\t\r\n\r\n${TWO.map((row) => row.replaceAll(" ", "\t")).join("\r\n")}\r\n\r\n`;
    expect(readAstraText(text, "dir/work.txt", { npus: 4 })).toEqual(read(["DATA", "2", ...TWO]));
    const free = ["DATA", "1", "a -1 10 NONE 0 20 NONE 0 30 NONE 0 5"];
    expect([nsOf(read(free)), nsOf(read(free, { unit: "us" }))]).toEqual([40, 40_000]);
  });

  it.each<[string, string[], Partial<AstraTextOptions>, string]>([
    ["nothing", [""], {}, "work.txt"],
    ["no number of layers", ["DATA"], {}, "work.txt: the number of layers"],
    ["another policy", ["DATUM", "2", ...TWO], {}, "work.txt line 1"],
    ["more words behind the policy", ["DATA 3", "2", ...TWO], {}, "work.txt line 1"],
    ["too few layers", ["DATA", "3", ...TWO], {}, "work.txt line 2"],
    ["too many layers", ["DATA", "1", ...TWO], {}, "work.txt line 2"],
    [
      "a number that is none",
      ["DATA", "2", TWO[0], TWO[1].replace("31", "3.1")],
      {},
      "work.txt line 4: time of weight gradients",
    ],
    [
      "another collective",
      ["DATA", "2", TWO[0].replace("ALLGATHER", "BROADCAST"), TWO[1]],
      {},
      "work.txt line 3: collective of the forward pass",
    ],
    ["a layer with few words", ["DATA", "2", TWO[0], "b -1 11"], {}, "work.txt line 4"],
    [
      "times beyond doubles",
      ["DATA", "2", TWO[0], TWO[1].replace("31", "9007199254740991")],
      {},
      "work.txt line 4: time of weight gradients",
    ],
    ["no group of the model", ["HYBRID_DATA_MODEL", "2", ...TWO], {}, "work.txt line 1: HYBRID_DATA_MODEL"],
    [
      "a group that does not divide",
      ["HYBRID_DATA_MODEL", "2", ...TWO],
      { modelNpus: 3 },
      "work.txt line 1: groups that share a layer",
    ],
    [
      "two groups of the model",
      ["HYBRID_TRANSFORMER model_parallel_NPU_group: 4", "2", ...TWO],
      { modelNpus: 2 },
      "work.txt line 1",
    ],
    ["no label", ["HYBRID_TRANSFORMER 4", "2", ...TWO], {}, "work.txt line 1"],
    [
      "no checkpoint before",
      [
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 1 1 checkpoint_initiates: 1 0",
        "2",
        ...TWO,
      ],
      {},
      "work.txt line 1: checkpoints",
    ],
    [
      "a checkpoint beyond",
      [
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 1 2 checkpoint_initiates: 0",
        "2",
        ...TWO,
      ],
      {},
      "work.txt line 1",
    ],
    [
      "more checkpoints than words",
      ["HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 99999999 1", "2", ...TWO],
      {},
      "work.txt line 1: checkpoints",
    ],
    [
      "a layer without its policy",
      ["HYBRID_CUSTOMIZED", "2", ...TWO],
      { modelNpus: 2 },
      "work.txt line 3: parallelism",
    ],
    ["a last bottom layer beyond", ["HYBRID_DLRM 2", "2", ...TWO], {}, "work.txt line 1"],
  ])("refuses %s, with the place", (_, lines, options, place) => {
    const refused = (): unknown => {
      try {
        return read(lines, options);
      } catch (error) {
        return error;
      }
    };
    expect(refused()).toBeInstanceOf(InputError);
    expect(refused()).toMatchObject({ place });
  });

  it("refuses so many layers that are computed again that they would not fit", () => {
    const count = 2000;
    const initiates = Array.from({ length: count }, (_, i) => i);
    const first = `HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 1 0 checkpoint_initiates: ${count} ${initiates.join(" ")}`;
    const rows = initiates.map((i) => `${i} -1 1 NONE 0 1 NONE 0 1 NONE 0 0`);
    expect(() => read([first, `${count}`, ...rows])).toThrow(InputError);
  });

  it("is read or refused, however it is changed", () => {
    const firsts = [
      "DATA",
      "HYBRID_DLRM 1",
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 1 0 checkpoint_initiates: 1 1",
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...firsts),
        fc.array(
          fc.tuple(
            fc.nat(300),
            fc.nat(3),
            fc.constantFrom("", "0", "-", " ", "\n", "99999", "NONE", ":", "\u0000", "e9"),
          ),
        ),
        (first, changes) => {
          let text = [first, "2", ...TWO].join("\n");
          for (const [at, cut, put] of changes) text = text.slice(0, at) + put + text.slice(at + cut);
          try {
            expect(nsOf(readAstraText(text, "work.txt", { npus: 4 }))).toBeGreaterThanOrEqual(0);
          } catch (error) {
            expect(error).toBeInstanceOf(InputError);
          }
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
