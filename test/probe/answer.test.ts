import { describe, expect, it } from "vitest";
import { probeAnswer } from "../../src/probe/answer.ts";
import { errorLine } from "../../src/probe/job.ts";
import { probeList } from "../../src/probe/list.ts";

const experiments = [
  { bytes: 8, repeats: 2, flows: [{ source: 0, target: 1 }] },
  {
    ...{ bytes: 1_000_000, repeats: 1 },
    flows: [
      { source: 0, target: 1 },
      { source: 1, target: 2 },
    ],
  },
];
const line = (value: unknown): string => `banyan-probe ${JSON.stringify(value)}`;
const HEAD = [
  line({ ranks: 3, experiments: 2, resolutionS: 1e-7 }),
  ...[0, 1, 2].map((rank) => line({ rank, kind: "npu", host: rank === 2 ? "b" : "a", cores: 2 })),
];
const BODY = [
  line({ experiment: 0, repeat: 1, late: 0, seconds: [3e-5] }),
  line({ experiment: 1, repeat: 0, late: 0.5, seconds: [1e-2, -1] }),
  line({ experiment: 0, repeat: 0, late: 0, seconds: [2e-5] }),
];

describe("lists and answers of probing programs", () => {
  it("a list has a line per experiment, and their number at its end", () => {
    expect(probeList(experiments)).toBe("banyan-probe-list 1\n8 2 0>1\n1000000 1 0>1 1>2\nend 2\n");
  });

  it("an answer is taken line by line, whatever else a launcher says, in any order of repeats", () => {
    const answer = probeAnswer(experiments, "mpirun");
    for (const one of ["Warning: a launcher", ...HEAD, "[1,0]<stdout>:x", ...BODY]) answer.take(one);
    expect([answer.isWhole, answer.repeats, answer.late]).toEqual([false, 3, 1]);
    answer.take(`[1,0]<stdout>:${line({ end: 2 })}`);
    expect([answer.isWhole, answer.refused]).toEqual([true, null]);
    expect(answer.endpoints.map(({ name, host }) => `${name} ${host}`)).toEqual(["0 a", "1 a", "2 b"]);
    // no flow arrives before it began, whatever two clocks say
    expect(answer.measurements().map(({ seconds }) => [...seconds])).toEqual([
      [2e-5, 3e-5],
      [1e-2, 1e-7],
    ]);
  });

  it("an answer without all repeats is refused", () => {
    const answer = probeAnswer(experiments, "mpirun");
    for (const one of [...HEAD, ...BODY.slice(1)]) answer.take(one);
    expect(() => answer.measurements()).toThrow("mpirun");
  });

  it.each([
    "banyan-probe {",
    "banyan-probe 3",
    line({ end: 1 }),
    line({ rank: 1, kind: "npu", host: "a" }),
    line({ rank: 0, kind: "gpu", host: "a" }),
    line({ experiment: 2, repeat: 0, seconds: [1] }),
    line({ experiment: 0, repeat: 2, seconds: [1] }),
    line({ experiment: 0, repeat: 0, seconds: [1, 2] }),
    line({ experiment: 0, repeat: 0, seconds: [null] }),
    line({ resolutionS: 0 }),
  ])("a line that is none of this version is refused: %s", (wrong) => {
    expect(() => probeAnswer(experiments, "mpirun").take(wrong)).toThrow("mpirun");
  });
});

it.each([
  [
    "-----\nmpirun has detected an attempt to run as root.\n\nRunning as root",
    "mpirun has detected an attempt to run as root.",
  ],
  ["\n=====\n=   BAD TERMINATION OF ONE\n=   PID 7", "BAD TERMINATION OF ONE"],
  ["Traceback (most recent call last):\n  File x, line 1\nValueError: no such thing\n", "ValueError: no such thing"],
  ["Traceback (most recent call last):\n  x\nsocket.timeout: late\n", "Traceback (most recent call last):"],
  ["", ""],
])("of errors the line that says what is wrong is told", (text, told) => {
  expect(errorLine(text)).toBe(told);
});
