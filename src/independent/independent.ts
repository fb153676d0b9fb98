/**
 * Judges a schedule's JSON file and the claims in it by FORMATS.md alone: this folder imports nothing but itself. Exact integers
 * and fractions, plain loops. Runs by itself with Node 20: `node independent.js FILE [--json]`; exit code 1 where something is
 * wrong, 2 where the file is no schedule.
 */

import { checkWholeChunks } from "./chunk-limits.ts";
import { readNetwork } from "./collectives.ts";
import { type Ground, provenPs } from "./limits.ts";
import { checkPeriods, type Periods, periodsPs, readPeriods } from "./periods.ts";
import { checkPhases, type Phases, phasesPs, readPhases } from "./phases.ts";
import { cutThroughPs, storeAndForwardPs } from "./replay.ts";
import { checkSteps, readSteps, type Steps } from "./transfers.ts";
import { checkTrees, readTrees, type Trees, throughputOf, treesPs } from "./trees.ts";
import {
  bad,
  compare,
  type Fraction,
  fractionAt,
  type Json,
  NoSchedule,
  NotHere,
  objectAt,
  textAt,
  textOf,
  Wrong,
  wholeAt,
  wrong,
} from "./values.ts";

export { NoSchedule } from "./values.ts";

/** What is said of the schedule, or of a claim; "not checkable here" is what rests on a search. */
export interface Finding {
  readonly claim: "rules" | "time" | "limit" | "class limit" | "throughput";
  readonly verdict: "checked" | "wrong" | "not checkable here";
  readonly because: string;
}

/** What `--json` prints. */
export interface Findings {
  readonly schema: "banyan/independent@1";
  /** Nothing is wrong. */
  readonly correct: boolean;
  readonly findings: readonly Finding[];
}

/** A schedule that keeps its rules. */
interface Judged {
  readonly steps: Steps | null;
  readonly trees: Trees | null;
  readonly phases: Phases | null;
  readonly periods: Periods | null;
  /** Returns the time in a model that reports name. */
  readonly psIn: (model: string, time: Json) => number;
  readonly what: string;
}

function judged(file: Json): Judged {
  const { format, version, kind } = file;
  const isPhases = format === "banyan-phases";
  if (!isPhases && format !== "banyan-schedule") return bad("format", '"banyan-schedule" or "banyan-phases"', format);
  if (version !== 1 && (isPhases || version !== 2)) return bad("version", "a known version", version);
  const net = readNetwork(file["topology"]);
  const none = { steps: null, trees: null, phases: null, periods: null };
  const noModel = (model: string): never => wrong(`no time of it is in the model ${JSON.stringify(model)}`);
  if (isPhases) {
    const phases = readPhases(file, net);
    checkPhases(phases);
    const psIn = (model: string): number => (model === "dimensions" ? phasesPs(phases) : noModel(model));
    return { ...none, phases, psIn, what: `${phases.chunk.length} phases` };
  }
  if (kind === "trees") {
    const trees = readTrees(file, net);
    const nodes = checkTrees(trees);
    const psIn = (model: string, { pieces }: Json): number =>
      model === "network/cut-through"
        ? treesPs(trees, nodes, wholeAt(pieces, "claims.time.pieces", 1))
        : noModel(model);
    return { ...none, trees, psIn, what: `${trees.forests.reduce((sum, one) => sum + one.trees.length, 0)} trees` };
  }
  if (file["periods"] !== undefined) {
    const periods = readPeriods(file, net);
    checkPeriods(periods);
    const psIn = (model: string): number => (model === "network/cut-through" ? periodsPs(periods) : noModel(model));
    return { ...none, periods, psIn, what: `${periods.trees.length} trees in periods` };
  }
  const steps = readSteps(file, net);
  checkSteps(steps);
  const models: Readonly<Record<string, () => number>> = {
    "network/cut-through": () => cutThroughPs(steps),
    "network/store-and-forward": () => storeAndForwardPs(steps),
    "link-busy": () => steps.end.reduce((most, ps) => Math.max(most, ps), 0),
  };
  const psIn = (model: string): number =>
    Object.hasOwn(models, model) ? (models[model] as () => number)() : noModel(model);
  return { ...none, steps, psIn, what: `${steps.chunk.length} transfers` };
}

/** Whom a limit of a class holds for, in the words of files. */
const CLASSES: Readonly<Record<string, string>> = {
  "whole chunks": "whole chunks over these routes",
  "forwarding switches": "switches that only forward",
  "sums at one NPU": "each byte summed at one NPU",
  phases: "one dimension after the other",
};

/** Throws Wrong where the witness of a limit proves less, or for fewer schedules, than is claimed. */
function checkLimit(schedule: Judged, claim: Json, of: string | null, stores: boolean): string {
  const { steps, trees, phases, periods } = schedule;
  const kind = textAt(claim["kind"], "a limit's kind");
  const witness = objectAt(claim["witness"], "a limit's witness");
  const ps = fractionAt(claim["ps"], "a limit's ps", 0n);
  if (witness["kind"] !== kind) wrong("its witness is of another kind");
  if (of !== null && claim["holdsFor"] !== CLASSES[of]) wrong("it does not hold for those whom it names");
  const because = `${textOf(ps)} ps, by ${kind}${of === null ? "" : `, for ${CLASSES[of]}`}`;
  if (of === "whole chunks") {
    if (steps === null) return wrong("no transfers have whole chunks");
    const [num, den] = ps;
    checkWholeChunks(
      steps,
      stores,
      kind,
      witness,
      den === 1n ? Number(num) : wrong("whole chunks take whole picoseconds"),
    );
    return because;
  }
  const other = trees ?? phases ?? periods;
  const { net, tasks } = steps ?? { net: other?.net, tasks: [other?.task] };
  const ground = { net, tasks, trees, phases, forwarding: of === "forwarding switches" } as Ground;
  const isAble = ground.net.copies.includes(true) || ground.net.sums.includes(true);
  const counts =
    trees?.inNetwork === true || phases?.dimensions.some(({ algorithm }) => algorithm === "offload") === true;
  if (ground.forwarding && (!isAble || counts))
    wrong("the schedule, or its network, has no switches that only forward");
  if (of === "phases" && (phases === null || witness["dimensions"] === undefined)) wrong("it is not of phases");
  if (kind === "dual" && trees?.task.kind !== "allreduce") checkForwarding(ground, witness, of);
  else if ((kind === "dual") !== (of === "sums at one NPU"))
    wrong("weighted sets bound those, and only those, that sum each byte at one NPU");
  if (of !== "phases" && witness["dimensions"] !== undefined) wrong("it bounds phases only");
  const proven = provenPs(ground, kind, witness);
  if (compare(proven, ps) < 0) wrong(`its witness proves ${textOf(proven)} ps, not ${textOf(ps)} ps`);
  return because;
}

/** Throws Wrong where potentials of a gather count on what a switch that copies or sums need not heed. */
function checkForwarding({ net, forwarding }: Ground, witness: Json, of: string | null): void {
  const isAble = net.copies.includes(true) || net.sums.includes(true);
  const counts = isAble && Array.isArray(witness["potentials"]) && witness["potentials"].length > 0;
  if (of !== null && !forwarding)
    wrong("weighted sets of a gather bound all schedules, or those whose switches forward");
  if (counts && !forwarding) wrong("potentials do not bound switches that copy or sum");
}

function found(claim: Finding["claim"], check: () => string): Finding {
  try {
    return { claim, verdict: "checked", because: check() };
  } catch (error) {
    if (error instanceof Wrong) return { claim, verdict: "wrong", because: error.message };
    if (error instanceof NotHere) return { claim, verdict: "not checkable here", because: error.message };
    throw error;
  }
}

const onlyKeys = (value: Json, keys: readonly string[], place: string): void => {
  for (const key of Object.keys(value)) if (!keys.includes(key)) bad(place, `no keys but ${keys.join(", ")}`, key);
};

function claimed(schedule: Judged, claims: Json): Finding[] {
  onlyKeys(claims, ["time", "limit", "classLimit", "throughput"], "claims");
  const findings: Finding[] = [];
  let stores = false;
  let ps: number | null = null;
  if (claims["time"] !== undefined) {
    const time = objectAt(claims["time"], "claims.time");
    onlyKeys(time, ["ps", "model", "pieces"], "claims.time");
    const model = textAt(time["model"], "claims.time.model");
    const own = wholeAt(time["ps"], "claims.time.ps");
    stores = model === "network/store-and-forward";
    findings.push(
      found("time", () => {
        ps = schedule.psIn(model, time);
        return ps === own ? `${ps} ps, ${model}` : wrong(`it takes ${ps} ps (${model}), not ${own} ps`);
      }),
    );
  }
  const limit = (claim: "limit" | "class limit", value: unknown): void => {
    const own = objectAt(value, `claims.${claim}`);
    onlyKeys(
      own,
      claim === "limit" ? ["ps", "kind", "witness"] : ["of", "holdsFor", "ps", "kind", "witness"],
      `claims.${claim}`,
    );
    const of = claim === "limit" ? null : textAt(own["of"], "claims.classLimit.of");
    if (of !== null && !Object.hasOwn(CLASSES, of)) bad("claims.classLimit.of", "the name of a class", of);
    findings.push(
      found(claim, () => {
        const because = checkLimit(schedule, own, of, stores);
        const least = fractionAt(own["ps"], "ps", 0n);
        return ps !== null && compare([BigInt(ps), 1n], least) < 0
          ? wrong(`the schedule takes ${ps} ps, less than that`)
          : because;
      }),
    );
  };
  if (claims["limit"] !== undefined) limit("limit", claims["limit"]);
  if (claims["classLimit"] !== undefined && claims["classLimit"] !== null) limit("class limit", claims["classLimit"]);
  if (claims["throughput"] !== undefined) {
    const own = objectAt(claims["throughput"], "claims.throughput");
    onlyKeys(own, ["bytesPerSecond"], "claims.throughput");
    const rate = fractionAt(own["bytesPerSecond"], "claims.throughput.bytesPerSecond");
    findings.push(
      found("throughput", () => {
        const proven: Fraction = schedule.trees === null ? wrong("only trees have one") : throughputOf(schedule.trees);
        return compare(proven, rate) === 0 ? `${textOf(rate)} bytes/s` : wrong(`it is ${textOf(proven)} bytes/s`);
      }),
    );
  }
  return findings;
}

/**
 * Returns what of a schedule's JSON file holds: its rules and, where these do, each of its claims. Throws NoSchedule, a sentence,
 * for a text that is no such file. O(rows log rows), and what bounds take (FORMATS.md).
 */
export function judgeIndependently(text: string): Findings {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    if (/^\s*\{/.test(text) && !/\}\s*$/.test(text))
      throw new NoSchedule(
        "the file",
        "whole JSON of a schedule (this is cut off: write or copy it once more)",
        text.slice(-40),
      );
    throw new NoSchedule("the file", "JSON of a schedule", text.slice(0, 40));
  }
  const own = objectAt(file, "the file");
  let schedule: Judged | null = null;
  const rules = found("rules", () => {
    schedule = judged(own);
    return `${schedule.what} do what their collective asks`;
  });
  const claims = own["claims"] === undefined ? {} : objectAt(own["claims"], "claims");
  const findings = [rules, ...(schedule === null ? [] : claimed(schedule, claims))];
  return { schema: "banyan/independent@1", correct: findings.every(({ verdict }) => verdict !== "wrong"), findings };
}

/** Returns the findings for people, one a line. */
export const findingLines = ({ findings }: Findings): string[] =>
  findings.map(({ claim, verdict, because }) => `${verdict === "wrong" ? "WRONG" : verdict}: ${claim}: ${because}`);

/** What is not seen, or turns text around, as escapes. */
const visible = (text: string): string =>
  text.replaceAll(
    /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

async function main(words: readonly string[]): Promise<number> {
  const { readFileSync } = await import("node:fs");
  const [file, ...more] = words.filter((word) => word !== "--json");
  const isJson = words.includes("--json");
  try {
    if (file === undefined || more.length > 0)
      throw new NoSchedule("the command line", "FILE [--json]", words.join(" "));
    const findings = judgeIndependently(readFileSync(file, "utf8"));
    const lines = isJson ? [JSON.stringify(findings, null, 2)] : findingLines(findings);
    process.stdout.write(`${visible(lines.join("\n"))}\n`);
    return findings.correct ? 0 : 1;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!(error instanceof NoSchedule) && code === undefined) throw error;
    const sentence = error instanceof NoSchedule ? error.message : `${file} cannot be read (${code})`;
    process.stderr.write(`${visible(sentence)}\n`);
    return 2;
  }
}

if (typeof process !== "undefined" && /independent\.[jt]s$/.test(process.argv[1] ?? "")) {
  const { realpathSync } = await import("node:fs");
  if (realpathSync(process.argv[1]) === import.meta.filename) process.exitCode = await main(process.argv.slice(2));
}
