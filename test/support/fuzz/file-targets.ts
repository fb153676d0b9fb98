import { InputError, unlessRefused } from "../../../src/base/errors.ts";
import { sendsCsvParts } from "../../../src/export/schedules/sends-csv.ts";
import { readCollective, readCollectives } from "../../../src/import/collectives/collective.ts";
import { readNcclLog } from "../../../src/import/logs/nccl-log.ts";
import { readMeasurements } from "../../../src/import/logs/nccl-tests.ts";
import { formatOf, NETWORK_FORMATS } from "../../../src/import/networks/network-formats.ts";
import { looksLikeMpiPlan } from "../../../src/import/programs/mpi-plan.ts";
import { bytesSource, readBysTopology } from "../../../src/import/schedules/bys.ts";
import { readPeriods } from "../../../src/import/schedules/periods-json.ts";
import { readPhases } from "../../../src/import/schedules/phases-json.ts";
import { readAnySchedule, readSchedule } from "../../../src/import/schedules/schedule-json.ts";
import { readScheduleText } from "../../../src/import/schedules/schedule-text.ts";
import { isSendsText, readSendTable } from "../../../src/import/schedules/sends.ts";
import { readTreeFlow } from "../../../src/import/schedules/tree-flow-json.ts";
import { utf8Text } from "../../../src/import/text/utf8.ts";
import { judgeIndependently, NoSchedule } from "../../../src/independent/independent.ts";
import { kindOf } from "../../../src/kinds/kinds.ts";
import type { NamedCollective } from "../../../src/model/collective/collective.ts";
import type { GivenSchedule } from "../../../src/model/joint/joint-schedule.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { SlotSchedule } from "../../../src/model/slots/slot-schedule.ts";
import { makespanPs } from "../../../src/model/steps/step-schedule.ts";
import type { TreeFlow } from "../../../src/model/trees/tree-flow.ts";
import { calibrate } from "../../../src/run/calibrate.ts";
import { inRows, type OwnSends, readSends } from "../../../src/run/own/own-sends.ts";
import { compareRecords, readVerificationRecord, recordOf } from "../../../src/run/record.ts";
import { verifyTreeFlow } from "../../../src/verify/trees/tree-flow.ts";
import { joined, resealed } from "../bys-files.ts";
import { greedySlots, ringSlots } from "../greedy-slots.ts";
import { plainPeriods } from "../plain-periods.ts";
import { ownSources, type ReaderSource } from "../reader-sources.ts";
import { ringSchedule } from "../ring-schedule.ts";
import {
  judgeBys,
  judgeNetworkText,
  judgeProgramText,
  judgeScheduleText,
  judgeSketchText,
  withPlanChecksum,
} from "./judges.ts";
import { bytesOf, type FuzzTarget, LawBroken, letters } from "./target.ts";

/** Readers of files. */

/** Returns a name as part of a file's. */
const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

export const targetOfFormat = (name: string): string => `network-${plain(name)}`;

/** Model of the GPUs, for formats that leave it open; another one stands before a "|". */
const USUAL_GPU = "a100";

/** Returns a target for every format of networks: one without seeds of its own is told of by the tests. */
function networkTargets(own: readonly ReaderSource[]): FuzzTarget[] {
  const texts = own.filter(({ reader }) => reader === "network" || reader === "schedule");
  return NETWORK_FORMATS.map(({ name, takes }) => ({
    name: targetOfFormat(name),
    seeds: () =>
      texts
        .filter(({ text }) => unlessRefused(() => formatOf(text, "file")) === name)
        .map(({ text, gpu }) => (gpu === undefined || gpu === USUAL_GPU ? text : `${gpu}|${text}`)),
    check(text) {
      if (!takes.includes("gpu")) return judgeNetworkText(text, {});
      const [, gpu = USUAL_GPU, rest = text] = /^([a-z0-9]{1,8})\|(.*)$/s.exec(text) ?? [];
      return judgeNetworkText(rest, { gpu });
    },
  }));
}

const RING = presetTopology("ring:4");
const BOX = presetTopology("dgx-a100:1");

const COLLECTIVES = [
  '{"format":"banyan-collective","version":1,"chunkBytes":"1KiB","chunks":[{"pre":["0"],"post":["1"]},{"pre":[1],"post":[0,2]}]}',
  '{"format":"banyan-collectives","version":1,"collectives":[{"kind":"allreduce","size":"1MiB","group":"0,1;2,3"},{"kind":"broadcast","root":1,"group":[0,1],"chunks":2}]}',
  '[{"kind":"allgather"},{"kind":"alltoall","size":4096,"group":[[0,1],[2,3]]}]',
];
const MATRICES = [
  "# bytes\n0 4MiB 4096 1\n512K 0 1M 0\n4096 8192 0 5\n1 1 1 0\n",
  "0,1,2,3\n3,0,4,1\n5,6,0,1\n0,0,0,0\n",
];

const SENDS = [
  "# around\nstep,src,dst,chunk,op\n0,0,1,0,copy\n0,1,2,1,copy\n0,2,3,2,copy\n0,3,0,3,copy\n1,1,2,0,copy\n1,2,3,1,copy\n1,3,0,2,copy\n1,0,1,3,copy\n2,2,3,0,copy\n2,3,0,1,copy\n2,0,1,2,copy\n2,1,2,3,copy\n",
  "round;from;to;chunk\n0;0;1;3.0\n0;2;1;3.0\n1;1;2;1.1\n",
  '{"format":"banyan-sends","version":1,"topology":"fc:3","collective":{"kind":"alltoall","size":"1KiB","chunks":2},"sends":[{"step":0,"src":0,"dst":1,"chunk":"0:1.1"},{"step":"1","src":1,"dst":2,"chunk":"1.5"}]}',
  '[{"step":0,"src":"0","dst":1,"chunk":0,"op":"sum"},{"step":1,"src":1,"dst":0,"chunk":0}]',
];

/** Reads sends as parts of some collectives, judges them, and what is written of them is read as it was. */
function judgeSends(text: string): void {
  const read = (list: string, kind: NamedCollective | null, chunks?: number): OwnSends =>
    readSends(list, "file", {
      topology: kind === null ? null : RING,
      collective: () => (kind === null ? null : { collective: kind, sizeBytes: 4096, ...(chunks && { chunks }) }),
    });
  unlessRefused(() => read(text, null));
  for (const kind of ["allgather", "allreduce", "alltoall"] as const) {
    const sends = unlessRefused(() => read(text, kind));
    if (sends === null || sends.schedule.chunk.length > 2000) continue;
    const { violationCount } = inRows(kindOf(sends.schedule), sends).judge({ limit: 5 });
    if (violationCount > 0) continue;
    const written = unlessRefused(() => [...sendsCsvParts(sends.schedule)].join(""));
    if (written === null) continue;
    const again = read(written, kind, sends.schedule.collective.chunksPerNpu).schedule;
    if (kindOf(again).judge().violationCount > 0) throw new LawBroken("sends that were written are wrong");
    if (makespanPs(again) > makespanPs(sends.schedule)) throw new LawBroken("sends that were written take longer");
  }
}

const RECORD = recordOf(ringSchedule(), "0.1.0");

const SLOTS = (): SlotSchedule[] => [
  greedySlots(presetTopology("mesh:2x2"), "allgather", 1, 5),
  greedySlots(presetTopology("mesh:2x2"), "allreduce", 2, 5),
  ringSlots(presetTopology("ring:3"), "reducescatter"),
];

/** Returns a file of trees with a certificate of the other kind; it proves nothing. */
function withDualCertificate(text: string): string {
  const potentials = [{ node: 0, out: "1/2", in: "-1/3" }];
  const cuts = [{ nodes: [0, 1], direction: "out", weight: "1" }];
  return JSON.stringify({ ...JSON.parse(text), certificate: { kind: "dual", potentials, cuts } });
}

/** Returns a file with claims, whatever they are worth. */
function withClaims(text: string): string {
  const limit = { ps: "1/3", kind: "latency", witness: { kind: "latency", from: "a", to: "b" } };
  const classLimit = { of: "whole chunks", holdsFor: "whole chunks over these routes", ...limit };
  const claims = { time: { ps: 5, model: "network/cut-through", pieces: 2 }, limit, classLimit };
  return JSON.stringify({ ...JSON.parse(text), claims });
}

/** Judges a schedule file by both judges. Throws LawBroken where both read it and do not agree. */
function judgeBoth(text: string): unknown {
  const schedule = unlessRefused(() => readAnySchedule(text, "file"));
  try {
    const findings = judgeIndependently(text);
    const isRight = findings.findings[0]?.verdict === "checked";
    const verdict =
      schedule === null ? undefined : isTrees(schedule) ? verifyTreeFlow(schedule) : kindOf(schedule).judge();
    if (verdict !== undefined && (verdict.violationCount === 0) !== isRight)
      throw new LawBroken(`rules: ${JSON.stringify(findings.findings[0])}, but ${verdict.violationCount} violations`);
    return findings;
  } catch (error) {
    if (!(error instanceof NoSchedule)) throw error;
    throw new InputError("file", "a schedule", error.message);
  }
}

const isTrees = (schedule: GivenSchedule): schedule is TreeFlow => "forests" in schedule;

export function fileTargets(): FuzzTarget[] {
  const own = ownSources();
  const textsOf = (...formats: string[]): string[] =>
    own.filter(({ format }) => formats.includes(format)).map(({ text }) => text);
  const scheduleTarget = (
    name: string,
    read: (text: string, fileName: string) => unknown,
    seeds: () => readonly string[],
  ): FuzzTarget => ({
    name,
    seeds,
    check(text) {
      // the reader of this kind alone, then that of all kinds
      unlessRefused(() => read(text, "file"));
      judgeScheduleText(text);
    },
  });
  const programTarget = (name: string, format: string): FuzzTarget => ({
    name,
    seeds: () => textsOf(format),
    check: judgeProgramText,
  });
  return [
    ...networkTargets(own),
    scheduleTarget("schedule-steps", readSchedule, () => textsOf("banyan-schedule")),
    scheduleTarget("schedule-trees", readTreeFlow, () => {
      const texts = textsOf("trees");
      return [...texts, withDualCertificate(texts[0] as string)];
    }),
    scheduleTarget("schedule-periods", readPeriods, () => textsOf("periods")),
    scheduleTarget("schedule-phases", readPhases, () => textsOf("phases")),
    {
      name: "schedule-independent",
      seeds: () => textsOf("banyan-schedule", "trees", "periods", "phases").map(withClaims),
      check: judgeBoth,
    },
    {
      name: "schedule-sends",
      seeds: () => SENDS,
      check(text) {
        if (!isSendsText(text)) throw new InputError("file", "a list of sends");
        readSendTable(text, "file");
        judgeSends(text);
      },
    },
    scheduleTarget("schedule-sccl", readScheduleText, () => textsOf("SCCL algorithm")),
    {
      name: "schedule-bys",
      seeds: () => [
        letters(joined(ringSchedule())),
        letters(joined(plainPeriods())),
        ...SLOTS().map((slots) => letters(joined(slots))),
      ],
      check(input) {
        const bytes = bytesOf(input);
        // most changes stop at a checksum, so it is made right
        unlessRefused(() => judgeBys(bytes));
        unlessRefused(() => readBysTopology(bytesSource(bytes), "file.bys"));
        judgeBys(resealed(bytes));
      },
    },
    programTarget("program-msccl-xml", "MSCCL XML"),
    programTarget("program-mscclpp-json", "MSCCL++ plan"),
    {
      name: "program-mpi-plan",
      seeds: () => textsOf("plan for MPI"),
      check(text) {
        if (!looksLikeMpiPlan(text)) throw new InputError("file", "a plan for MPI");
        // most changes stop at the checksum, so it is made right
        unlessRefused(() => judgeProgramText(text));
        judgeProgramText(withPlanChecksum(text));
      },
    },
    { name: "sketch", seeds: () => textsOf("TACCL sketch"), check: judgeSketchText },
    {
      name: "collective",
      seeds: () => [...COLLECTIVES.slice(0, 1), ...MATRICES],
      check: (text) => readCollective(text, "file", RING),
    },
    {
      name: "collective-matrix-of-parts",
      seeds: () => ["0,0.5,0,1\n1,0,0,0\n0,0,0,0\n0,0,1,0\n", "0 1 .25 1\n1 0 1 1\n1 1 0 1e-3\n0 0 0 0\n"],
      check: (text) => readCollective(text, "file", RING, { sizeBytes: 2 ** 20 }),
    },
    {
      name: "collectives",
      seeds: () => COLLECTIVES.slice(1),
      check: (text) => readCollectives(text, "file", RING),
    },
    { name: "nccl-log", seeds: () => textsOf("NCCL log"), check: (text) => readNcclLog(text, "file") },
    {
      name: "measurements",
      seeds: () => textsOf("nccl-tests"),
      check(text) {
        readMeasurements(text, "file");
        unlessRefused(() => calibrate(BOX, [{ name: "file", text }]));
      },
    },
    {
      name: "verification-record",
      seeds: () => [JSON.stringify(RECORD)],
      check(text) {
        const read = readVerificationRecord(text, "file");
        compareRecords(read, RECORD);
        const { differences, notes } = compareRecords(read, structuredClone(read) as never);
        if (differences.length + notes.length > 0) throw new LawBroken("a record differs from itself");
      },
    },
    {
      name: "utf8",
      seeds: () => ["text", letters(new TextEncoder().encode("µs, Π, \u{1f600}")), "\xff\xfea\0b\0", "\xef\xbb\xbf{}"],
      check: (input) => utf8Text(bytesOf(input), "file"),
    },
  ];
}
