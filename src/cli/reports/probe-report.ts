import { equalsAmong } from "../../infer/equals.ts";
import type { Inferred } from "../../infer/infer.ts";
import { percentText } from "../../model/calibration/calibration.ts";
import { formatSize } from "../../model/numbers/units.ts";
import { canSend } from "../../model/probe/measurements.ts";
import { count, significant } from "../../report/amounts.ts";
import { topologySummary } from "../../report/result.ts";
import { networkText } from "../../report/subject-text.ts";
import type { Style } from "./style.ts";
import { table } from "./table.ts";
import { labelled } from "./text.ts";

/** More lines than these are in --json only. */
const MOST_LINES = 24;
/** More names than these are counted. */
const MOST_NAMES = 6;

/** A figure and one standard error. */
interface Measured {
  readonly value: number;
  readonly error: number;
}

/** Pairs of equal figures. */
interface PairClass {
  /** "0>1", ordered pairs. */
  readonly pairs: readonly string[];
  readonly latencyUs: Measured;
  /** Of one flow alone; null where others forward, so that it was not measured by itself. */
  readonly gbps: Measured | null;
}

function classesOf({ endpoints, figures }: Inferred): PairClass[] {
  const n = endpoints.length;
  const pairs = Array.from({ length: n * n }, (_, p) => p).filter(
    (p) => canSend({ endpoints }, Math.floor(p / n), p % n) && !Number.isNaN(figures.latencyS[p]),
  );
  const { latencyS, latencyError, rate, rateError } = figures;
  const alphas = equalsAmong(
    pairs.map((p) => latencyS[p] as number),
    pairs.map((p) => latencyError[p] as number),
  );
  const known = pairs.filter((p) => (rate[p] as number) > 0);
  const betas = equalsAmong(
    known.map((p) => rate[p] as number),
    known.map((p) => rateError[p] as number),
  );
  const rateClass = new Map(known.map((p, i) => [p, betas.classOf[i] as number]));
  const classes = new Map<string, { alpha: number; beta: number | undefined; pairs: string[] }>();
  for (const [i, p] of pairs.entries()) {
    const [alpha, beta] = [alphas.classOf[i] as number, rateClass.get(p)];
    const key = `${beta} ${alpha}`;
    const own = classes.get(key) ?? { alpha, beta, pairs: [] };
    own.pairs.push(`${endpoints[Math.floor(p / n)]?.name}>${endpoints[p % n]?.name}`);
    classes.set(key, own);
  }
  const us = (alpha: number): Measured => ({
    value: (alphas.value[alpha] as number) * 1e6,
    error: (alphas.error[alpha] as number) * 1e6,
  });
  return [...classes.values()]
    .sort((a, b) => (b.beta ?? -1) - (a.beta ?? -1) || a.alpha - b.alpha)
    .map(({ alpha, beta, pairs: own }) => ({
      pairs: own,
      latencyUs: us(alpha),
      gbps:
        beta === undefined
          ? null
          : { value: (betas.value[beta] as number) / 1e9, error: (betas.error[beta] as number) / 1e9 },
    }));
}

/** Returns what several pairs use, of equal figures together. */
function sharedOf({ endpoints, sharing }: Inferred) {
  const n = endpoints.length;
  const pairs = sharing.resources.map((): string[] => []);
  for (const [p, way] of sharing.ways.entries())
    for (const resource of new Set(way ?? []))
      pairs[resource]?.push(`${endpoints[Math.floor(p / n)]?.name}>${endpoints[p % n]?.name}`);
  return sharing.resources.flatMap(({ name, kind, bytesPerSecond, error }, i) => {
    const own = pairs[i] as string[];
    return own.length < 2
      ? []
      : [{ name, kind, gbps: { value: bytesPerSecond / 1e9, error: error / 1e9 }, pairs: own }];
  });
}

/** Returns what a probe found; `by`: how it measured. */
export function probeReport(found: Inferred, by: string, resolutionS: number) {
  const { topology, endpoints, figures, check, unexplained, asked } = found;
  return {
    schema: "banyan/probe@1",
    by,
    endpoints,
    sizeBytes: figures.bytes,
    burstBytes: Math.round(figures.burstBytes),
    resolutionUs: resolutionS * 1e6,
    classes: classesOf(found),
    shared: sharedOf(found),
    topology: topologySummary(topology),
    check: {
      ...{ experiments: check.experiments, flows: check.flows, off: check.off.length },
      ...{ medianError: check.medianError, worstError: check.worstError },
    },
    unexplained,
    asked,
  };
}
export type ProbeReport = ReturnType<typeof probeReport>;

const figureText = ({ value, error }: Measured, unit: string): string =>
  `${significant(value)} ${unit}${error > 0 ? ` +- ${significant(error, 2)}` : ""}`;
const rateText = ({ value, error }: Measured): string =>
  value < 1 ? figureText({ value: value * 1000, error: error * 1000 }, "MB/s") : figureText({ value, error }, "GB/s");
const namesText = (names: readonly string[]): string =>
  names.length <= MOST_NAMES
    ? names.join(" ")
    : `${names.slice(0, MOST_NAMES).join(" ")} and ${names.length - MOST_NAMES} more`;

const headed = (heads: readonly string[], rows: readonly (readonly string[])[], style: Style): string[] => {
  const [head, ...rest] = table(heads, rows, ["left", "right", "right", "left"]);
  return [style.dim(head as string), ...rest];
};

const KINDS: Readonly<Record<ProbeReport["shared"][number]["kind"], string>> = {
  egress: "port out of",
  ingress: "port into",
  link: "link",
  trunk: "between switches",
  pcie: "PCIe",
  nic: "NIC",
  nvlink: "NVLink",
  cpu: "between CPUs",
};

/** Returns the lines of a report. */
export function probeLines(report: ProbeReport, found: Inferred, style: Style): string[] {
  const { endpoints, classes, shared, check, unexplained, asked } = report;
  const hosts = [...new Set(endpoints.map(({ host }) => host))];
  const kinds = (["npu", "cpu", "nic"] as const).flatMap((kind) => {
    const many = endpoints.filter((one) => one.kind === kind).length;
    return many === 0
      ? []
      : [count(many, kind === "npu" ? "process" : kind, kind === "npu" ? "processes" : `${kind}s`)];
  });
  const lines = [
    "",
    labelled("measured", report.by),
    labelled("endpoints", `${kinds.join(", ")} on ${count(hosts.length, "host")}: ${namesText(hosts)}`),
    labelled(
      "flows",
      `of ${formatSize(report.sizeBytes)}, ${count(asked.flows, "flow")} in ${count(asked.experiments, "experiment")}`,
    ),
    ...(report.burstBytes > 0
      ? [labelled("", `the first ${formatSize(report.burstBytes)} of a flow arrive at once, and were not counted`)]
      : []),
    "",
  ];
  const cells = classes
    .slice(0, MOST_LINES)
    .map(({ pairs, latencyUs, gbps }) => [
      count(pairs.length, "pair"),
      gbps === null ? "forwarded" : rateText(gbps),
      figureText(latencyUs, "us"),
      namesText(pairs),
    ]);
  lines.push(...headed(["equal pairs", "bandwidth", "latency", ""], cells, style));
  if (classes.length > MOST_LINES) lines.push(`and ${classes.length - MOST_LINES} more (--json has all)`);
  lines.push("", ...sharedLines(shared, style), "");
  lines.push(labelled("network", networkText(report.topology)));
  const percent = (part: number): string => percentText(part);
  lines.push(
    labelled(
      "check",
      `${count(check.flows, "flow")} in ${count(check.experiments, "random mix", "random mixes")}: ${percent(check.medianError)} off in the median, ${percent(check.worstError)} at worst`,
    ),
  );
  for (const sentence of unexplained) lines.push(labelled("note", sentence));
  if (unexplained.length > 0 && found.topology.npuCount > 1)
    lines.push(labelled("", "so the network is a guess; other load on machine or network is one reason"));
  return lines;
}

/** What is shared, of equal kind, rate and number of pairs in one line. */
function sharedLines(shared: ProbeReport["shared"], style: Style): string[] {
  if (shared.length === 0) return ["nothing is shared: every pair has a way of its own"];
  const rates = equalsAmong(
    shared.map(({ gbps }) => gbps.value),
    shared.map(({ gbps }) => gbps.error),
  );
  const groups = new Map<string, { kind: keyof typeof KINDS; rate: number; pairs: number; names: string[] }>();
  for (const [i, { name, kind, pairs }] of shared.entries()) {
    const rate = rates.classOf[i] as number;
    const key = `${kind} ${rate} ${pairs.length}`;
    const own = groups.get(key) ?? { kind, rate, pairs: pairs.length, names: [] };
    own.names.push(name.replace(/ (?:out|in)$/, "").replace(/^trunk /, ""));
    groups.set(key, own);
  }
  const cells = [...groups.values()]
    .slice(0, MOST_LINES)
    .map(({ kind, rate, pairs, names }) => [
      names.length === 1 ? KINDS[kind] : `${names.length} x ${KINDS[kind]}`,
      rateText({ value: rates.value[rate] as number, error: rates.error[rate] as number }),
      count(pairs, "pair"),
      namesText(names),
    ]);
  return headed(["shared", "bandwidth", "by each", ""], cells, style);
}
