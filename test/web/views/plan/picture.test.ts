import { describe, expect, it } from "vitest";
import type { PlannedCopy, PlanPart, TensorFacts } from "../../../../src/web/plan-protocol.ts";
import type { Failure } from "../../../../src/web/protocol.ts";
import { fieldOf } from "../../../../src/web/views/plan/ask.ts";
import { colourOf, lieText, ownSizes, whatBecomes } from "../../../../src/web/views/plan/looks.ts";
import { nodeTowards, pathOf, pictureOf, type Row, shortName } from "../../../../src/web/views/plan/picture.ts";

const MESH = [
  { name: "A", size: 2 },
  { name: "B", size: 4 },
];
const fact = (name: string, more: Partial<TensorFacts> = {}): TensorFacts => ({
  name,
  count: 12,
  operation: "product",
  phase: "forward",
  dims: [
    { name: "samples", size: 8 },
    { name: "hidden", size: 64 },
  ],
  elementBytes: 2,
  bytes: 1024,
  ownBytes: 256,
  lies: [0, "whole"],
  isFused: false,
  retention: "kept",
  streamed: null,
  copies: [],
  home: null,
  gradient: null,
  parameter: null,
  madeOf: [],
  takenBy: [],
  ...more,
});
const GATHERED: PlannedCopy = {
  when: "forward",
  lies: ["whole", "whole"],
  moves: [{ kind: "all-gather", axes: "A", bytes: 2 ** 20, us: 9.5, algorithm: "ring" }],
};
const TENSORS = [
  fact("sum"),
  fact("queries"),
  fact("queries weights", { operation: "parameter", lies: ["summand", 1], retention: null }),
  fact("scores", { operation: "softmax", isFused: true, retention: "again" }),
];
const PART: PlanPart = {
  phase: "forward",
  name: "layer 7",
  count: 12,
  nodes: [
    { kind: "from", tensor: 0, isKept: false },
    { kind: "made", tensor: 1, isAgain: false, given: [{ tensor: 2, copy: GATHERED }], updates: null },
    { kind: "brought", tensor: 1, copy: GATHERED },
    { kind: "made", tensor: 3, isAgain: false, given: [], updates: null },
    { kind: "to" },
  ],
  edges: [
    [0, 1],
    [1, 2],
    [2, 3],
    [0, 3],
    [3, 4],
  ],
};

const textOf = (rows: readonly Row[]): string[] =>
  rows.map(({ pieces }) =>
    pieces
      .map((piece) => (piece.kind === "text" ? piece.text : `${piece.letter}${piece.dim && ` ${piece.dim}`}`))
      .join(" "),
  );

describe("the picture of a part", () => {
  const picture = pictureOf(PART, TENSORS, 2000);

  it("says of every node what lies where, what was brought for it, and what becomes of it", () => {
    expect(picture.boxes.map(({ rows }) => textOf(rows))).toEqual([
      ["from before: sum", "S samples R"],
      ["queries", "S samples R kept", "with queries weights", "P S hidden", "all-gather A 1 MiB 9.5 us"],
      ["all-gather A 1 MiB 9.5 us", "R R"],
      ["scores", "S samples R"],
      ["to the next part"],
    ]);
    expect(picture.boxes.map(({ isQuiet }) => isQuiet)).toEqual([true, false, false, true, true]);
  });

  it("has boxes for all of their rows, narrower ones where there is less room, and fits it", () => {
    for (const { rows, height } of picture.boxes)
      expect(rows.reduce((all, row) => all + row.height, 0)).toBeLessThan(height);
    const wide = { ...PART, nodes: [...PART.nodes], edges: [...PART.edges] };
    const name = "a product of many words that is taken by all";
    const tensors = [fact("sum"), ...Array.from({ length: 4 }, () => fact(name))];
    const part: PlanPart = {
      ...wide,
      nodes: tensors.map((_, tensor) => ({ kind: "made", tensor, isAgain: false, given: [], updates: null })),
      edges: [1, 2, 3, 4].map((to) => [0, to] as const),
    };
    const widths = [2000, 800, 400].map((width) => pictureOf(part, tensors, width).width);
    expect(widths[0]).toBeGreaterThan(widths[1] as number);
    expect(widths[1]).toBeLessThanOrEqual(800);
    expect(widths[2]).toBeLessThan(widths[1] as number);
  });

  it("is gone through by keys: down along edges and up again, and not beyond", () => {
    expect(nodeTowards(picture, 0, "down")).toBe(1);
    expect(nodeTowards(picture, 1, "up")).toBe(0);
    expect(nodeTowards(picture, 0, "up")).toBe(0);
    expect(nodeTowards(picture, 4, "down")).toBe(4);
    expect(nodeTowards(picture, 1, "left")).toBe(1);
  });

  it("draws ways straight down, curved between, and shortens names of gradients", () => {
    expect(
      pathOf([
        [10, 0],
        [10, 20],
        [30, 40],
      ]),
    ).toBe("M10 0V20C10 30 30 30 30 40");
    expect(shortName("gradient of up weights")).toBe("∇ up weights");
  });
});

describe("what is said of tensors", () => {
  it("is where they lie, what an NPU has of them, and what becomes of them", () => {
    const tensor = TENSORS[2] as TensorFacts;
    expect(lieText(tensor, tensor.lies, MESH)).toBe("along A a summand, along B dealt by hidden");
    expect(ownSizes(tensor, tensor.lies, MESH)).toEqual([8, 16]);
    expect(whatBecomes(TENSORS[3] as TensorFacts)).toBe(", made again in the backward pass");
    expect(whatBecomes(tensor)).toBe("");
  });

  it("has a colour for each axis, and one for axes together", () => {
    const kinds = ["compute", "A", "B", "A x B", "bubble"];
    expect(new Set(kinds.map((kind) => colourOf(MESH, kind))).size).toBe(kinds.length);
  });

  it("is said at the field that caused a failure", () => {
    const wrong = (more: Partial<Failure>): Failure => ({ kind: "input", place: null, message: "", ...more });
    expect(fieldOf(wrong({ option: "timeLimit", place: "--time-limit" }), null, false)).toBe("planTime");
    expect(fieldOf(wrong({ option: "algorithms" }), null, false)).toBe("planBy");
    expect(fieldOf(wrong({ place: "the model" }), null, false)).toBe("model");
    expect(fieldOf(wrong({ place: "graph.json, node 3" }), "graph.json", true)).toBe("graph");
    expect(fieldOf(wrong({ place: "elsewhere" }), null, false)).toBeNull();
    expect(fieldOf(wrong({ kind: "internal", place: "the model" }), null, false)).toBeNull();
  });
});
