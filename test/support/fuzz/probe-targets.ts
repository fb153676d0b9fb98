import { recordJsonParts } from "../../../src/export/measurements/record-json.ts";
import { readProbeRecord } from "../../../src/import/measurements/record-json.ts";
import { readTimings } from "../../../src/lab/timings.ts";
import type { Experiment } from "../../../src/model/probe/measurements.ts";
import { probeAnswer } from "../../../src/probe/answer.ts";
import { probeList } from "../../../src/probe/list.ts";
import { type FuzzTarget, LawBroken, same } from "./target.ts";

const FLOWS = [
  { source: 0, target: 1 },
  { source: 1, target: 0 },
];
const EXPERIMENTS: readonly Experiment[] = [
  { bytes: 8, repeats: 2, flows: FLOWS.slice(0, 1) },
  { bytes: 1024, repeats: 1, flows: FLOWS },
];
const RECORD = {
  ...{
    format: "banyan-measurements",
    version: 1,
    asked: { bytes: null, mixes: 8 },
    by: "Open MPI 4.1.4: mpirun -np 2",
    resolutionS: 1e-7,
  },
  endpoints: ["npu", "npu", "cpu", "nic"].map((kind, i) => ({ kind, name: `${i}`, host: "node0" })),
  measurements: [
    { bytes: 8, repeats: 2, flows: "0>1", seconds: [1e-5, 1.5e-5] },
    { bytes: 1048576, repeats: 1, flows: "0>1 1>0 2>3", seconds: [1e-2, 2e-2, 0] },
  ],
};

function checkAnswer(text: string): void {
  const answer = probeAnswer(EXPERIMENTS, "mpirun");
  for (const line of text.split("\n")) answer.take(line);
  if (!answer.isWhole) return;
  for (const { experiment, seconds } of answer.measurements())
    if (seconds.length !== experiment.repeats * experiment.flows.length || !seconds.every(Number.isFinite))
      throw new LawBroken("times are missing");
}

/** Returns the targets of probes: files of measurements, and what probing programs say. */
export const probeTargets = (): FuzzTarget[] => [
  {
    name: "lab-timings",
    seeds: () => ['{"collective":"allgather","bytes":4096,"seconds":[0.001,0.002],"right":true}\nnoise'],
    check: (text) => {
      for (const { sizeBytes, seconds } of readTimings(text))
        if (!Number.isFinite(sizeBytes) || !seconds.every(Number.isFinite)) throw new LawBroken("times are no numbers");
    },
  },
  {
    name: "probe-record",
    seeds: () => [JSON.stringify(RECORD)],
    check: (text) => {
      const record = readProbeRecord(text, "measured.json");
      const written = [...recordJsonParts(record)].join("");
      same(written, [...recordJsonParts(readProbeRecord(written, "measured.json"))].join(""), "a file of measurements");
      if (!probeList(record.measurements.map(({ experiment }) => experiment)).startsWith("banyan-probe-list 1\n"))
        throw new LawBroken("a list has no head");
    },
  },
  {
    name: "probe-answer",
    seeds: () => [
      [
        { ranks: 2, experiments: 2, resolutionS: 1e-7 },
        { rank: 0, kind: "npu", host: "a", cores: 2 },
        { rank: 1, kind: "npu", host: "b", cores: 2 },
        { experiment: 0, repeat: 0, late: 0, seconds: [1e-5] },
        { experiment: 0, repeat: 1, late: 1e-7, seconds: [1e-5] },
        { experiment: 1, repeat: 0, late: 0, seconds: [1e-4, 2e-4] },
        { end: 2 },
      ]
        .map((one) => `banyan-probe ${JSON.stringify(one)}`)
        .join("\n"),
      'banyan-probe {"refused":"the list has no end: it was cut off"}',
    ],
    check: checkAnswer,
  },
];
