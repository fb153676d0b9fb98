import { InputError } from "../../src/errors.ts";
import { sketchToJson } from "../../src/export/taccl-sketch.ts";
import { topologyToJson } from "../../src/export/topology-json.ts";
import { readAnySchedule } from "../../src/import/joint-schedule-json.ts";
import { parseJson } from "../../src/import/json-text.ts";
import { readNcclLog } from "../../src/import/nccl-log.ts";
import { readMeasurements } from "../../src/import/nccl-tests.ts";
import { readProgram } from "../../src/import/program.ts";
import { readTopology } from "../../src/import/recognise.ts";
import { readScclAlgorithm } from "../../src/import/sccl-algorithm.ts";
import { readSketch, readSketchNodes } from "../../src/import/taccl-sketch.ts";
import { isPhaseSchedule } from "../../src/model/phase-schedule.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { blockCount, instructionCount, type Program } from "../../src/model/program.ts";
import { RUNTIME_NAMES } from "../../src/model/runtimes.ts";
import { sketchNetwork } from "../../src/model/sketch-network.ts";
import { linkCount, nodeCount, type Topology } from "../../src/model/topology.ts";
import { isTreeFlow } from "../../src/model/tree-flow.ts";
import { limitViolations } from "../../src/programs.ts";
import { random } from "../../src/random.ts";
import { verifyJoint } from "../../src/verify/joint.ts";
import { verifyPhases } from "../../src/verify/phases.ts";
import { verifyProgram } from "../../src/verify/program.ts";
import { chunkTotal } from "../../src/verify/program-size.ts";
import { verifyTreeFlow } from "../../src/verify/tree-flow.ts";
import { verify } from "../../src/verify/verify.ts";
import { mutatedText } from "./mutated-text.ts";
import type { ReaderName, ReaderSource } from "./reader-sources.ts";
import { sharedNics } from "./sketches.ts";

/** What became of mutants. */
export interface FuzzRow {
  mutants: number;
  read: number;
  refused: number;
  judged: number;
  slowestMs: number;
  /** Which mutant was the slowest. */
  slowest: number;
}

/** A mutant that broke a reader or a judge, or a sentence that is none. */
export interface FuzzFault {
  readonly mutant: number;
  readonly name: string;
  readonly what: string;
}

/** Programs up to this size are judged. */
const MOST_CHUNKS = 20_000;
const MOST_INSTRUCTIONS = 4_000;
/** Networks up to this size are written and read again. */
const MOST_LINKS = 20_000;
/** Sentences no longer than this fit one line of a report. */
const MOST_SENTENCE = 700;

function judgeNetwork(topology: Topology): boolean {
  if (linkCount(topology) + nodeCount(topology) > MOST_LINKS) return false;
  const again = readTopology(topologyToJson(topology), "again.json");
  if (linkCount(again) !== linkCount(topology)) throw new Error("a network that is not read as it was written");
  return true;
}

function judgeProgram(program: Program, text: string): boolean {
  for (const runtime of RUNTIME_NAMES)
    if ((runtime === "mscclpp") === (program.machine === "mscclpp")) limitViolations(program, runtime, text);
  if (chunkTotal(program) > MOST_CHUNKS || instructionCount(program) + blockCount(program) > MOST_INSTRUCTIONS)
    return false;
  verifyProgram(program, { limit: 10 });
  return true;
}

/** Sketches of up to so many nodes are read for a network of as many. */
const MOST_NODES = 4;

/** Returns a network for a sketch: 16 GPUs a node on a switch, 8 without, or 4. */
function sketchedNetwork(text: string): Topology {
  const nodes = Math.min(readSketchNodes(text, "file") ?? 2, MOST_NODES);
  if (text.includes("15")) return presetTopology(`dgx2:${nodes}`);
  return text.includes("uc-m") ? sharedNics(nodes) : presetTopology(`ndv2:${nodes}`);
}

function judgeSketch(text: string): boolean {
  const topology = sketchedNetwork(text);
  const sketch = readSketch(text, "file", topology);
  sketchNetwork(topology, sketch);
  const again = sketchToJson(readSketch(sketchToJson(sketch), "again", topology));
  if (again !== sketchToJson(sketch)) throw new Error("a sketch that is not read as it was written");
  return true;
}

/** Each reads a text and judges what it holds; returns whether it was small enough to be judged. */
const READERS: Readonly<Record<ReaderName, (text: string, gpu: string | undefined) => boolean>> = {
  network: (text, gpu) => judgeNetwork(readTopology(text, "file", gpu === undefined ? {} : { gpu })),
  program: (text) => judgeProgram(readProgram(text, "file"), text),
  schedule(text) {
    const schedule = readAnySchedule(text, "file");
    if ("tenants" in schedule) verifyJoint(schedule, { limit: 10 });
    else if (isPhaseSchedule(schedule)) verifyPhases(schedule, { limit: 10 });
    else if (isTreeFlow(schedule)) verifyTreeFlow(schedule, { limit: 10 });
    else verify(schedule, { limit: 10 });
    return true;
  },
  algorithm: (text) => {
    verify(readScclAlgorithm(parseJson(text, "file"), "file"), { limit: 10 });
    return true;
  },
  log: (text) => {
    readNcclLog(text, "file");
    return true;
  },
  measurements: (text) => {
    readMeasurements(text, "file");
    return true;
  },
  sketch: judgeSketch,
};
/** Reads a text and judges what it holds; returns whether it was small enough to be judged. Throws what readers throw. */
export const readAndJudge = (reader: ReaderName, text: string, gpu?: string): boolean => READERS[reader](text, gpu);
const READER_NAMES = Object.keys(READERS) as ReaderName[];

/** Returns what is wrong about an error; null for one sentence to the user. */
function faultOf(error: unknown): string | null {
  if (!(error instanceof InputError)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const { message } = error;
  if (message.includes("\n")) return `a sentence of several lines: ${JSON.stringify(message)}`;
  return message.length > MOST_SENTENCE ? `a sentence of ${message.length} characters: ${message}` : null;
}

/**
 * Reads mutants of the sources, and judges what they hold where that is small. Every format has as many mutants; mutant k is the same for any count. Returns what
 * became of them by format, and every fault.
 */
export function fuzzReaders(
  sources: readonly ReaderSource[],
  { count, seed, from = 0 }: { readonly count: number; readonly seed: number; readonly from?: number },
  onMutant: (mutant: number) => void = () => undefined,
): { readonly rows: ReadonlyMap<string, FuzzRow>; readonly faults: readonly FuzzFault[] } {
  const rows = new Map<string, FuzzRow>();
  const faults: FuzzFault[] = [];
  const formats = [...new Set(sources.map(({ format }) => format))].map((format) =>
    sources.filter((source) => source.format === format),
  );
  for (let mutant = from; mutant < from + count; mutant++) {
    onMutant(mutant);
    const draws = random(seed, mutant);
    const alike = formats[draws.below(formats.length)] as readonly ReaderSource[];
    const source = alike[draws.below(alike.length)] as ReaderSource;
    const other = sources[draws.below(sources.length)] as ReaderSource;
    const text = mutatedText(source.text, other.text, draws);
    const reader =
      draws.below(20) === 0 ? (READER_NAMES[draws.below(READER_NAMES.length)] as ReaderName) : source.reader;
    const gpu = draws.below(4) === 0 ? undefined : source.gpu;
    const row = rows.get(source.format) ?? {
      mutants: 0,
      read: 0,
      refused: 0,
      judged: 0,
      slowestMs: 0,
      slowest: mutant,
    };
    rows.set(source.format, row);
    row.mutants++;
    const start = performance.now();
    try {
      if (readAndJudge(reader, text, gpu)) row.judged++;
      row.read++;
    } catch (error) {
      row.refused++;
      const what = faultOf(error);
      if (what !== null) faults.push({ mutant, name: `${source.format}, ${source.name}, read as ${reader}`, what });
    }
    const ms = performance.now() - start;
    if (ms > row.slowestMs) Object.assign(row, { slowestMs: ms, slowest: mutant });
  }
  return { rows, faults };
}
