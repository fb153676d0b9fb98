import { formatBandwidth, formatSize, formatTime, PS_PER_SECOND } from "../model/numbers/units.ts";
import type { Findings, FoundFigure, FoundInside } from "../model/probe/findings.ts";

const percent = (part: number): string => `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %`;
const withError = ({ value, error }: FoundFigure, format: (value: number) => string): string =>
  `${format(value)} +- ${percent(error / value)}`;
const rate = (figure: FoundFigure): string => withError(figure, (value) => formatBandwidth(Math.round(value)));
const time = (figure: FoundFigure): string =>
  withError(figure, (value) => formatTime(Math.round(value * PS_PER_SECOND)));

/** Members that a line names; the others are counted. */
const MOST_NAMED = 6;
const named = (names: readonly string[]): string =>
  names.length <= MOST_NAMED
    ? names.join(", ")
    : `${names.slice(0, MOST_NAMED).join(", ")} and ${names.length - MOST_NAMED} more`;

const KINDS: Readonly<Record<string, string>> = {
  egress: "ports out",
  ingress: "ports in",
  link: "links",
  trunk: "trunks",
  nvlink: "NVLink",
  pcie: "PCIe",
  cpu: "between CPUs",
  nic: "NICs",
};

/** Returns what a probe found, line by line: what was asked, classes of pairs and links, what is shared, machines, the check. */
export function findingsLines(findings: Findings): string[] {
  const { asked, check, unexplained } = findings;
  return [
    `asked: ${asked.experiments} experiments of ${asked.flows} flows in ${asked.batches} batches, ${formatSize(findings.bytes)} a flow`,
    ...findings.pairs.map(
      ({ pairs, latencyS, bytesPerSecond, example }) =>
        `pairs: ${pairs} of latency ${time(latencyS)}${bytesPerSecond === null ? "" : `, ${rate(bytesPerSecond)} alone`}, such as ${example}`,
    ),
    ...findings.classes.map(
      ({ kind, bytesPerSecond, members }) =>
        `${KINDS[kind] ?? kind}: ${members.length} of ${rate(bytesPerSecond)}: ${named(members)}`,
    ),
    ...findings.machines.flatMap(insideLines),
    ...(findings.forwarded.length === 0
      ? []
      : [`forwarded: ${findings.forwarded.length} pairs through other endpoints`]),
    `check: ${check.flows} flows in ${check.experiments} random mixes, off by ${percent(check.medianError)} (median), ${percent(check.worstError)} at most`,
    ...unexplained.map((sentence) => `not explained: ${sentence}`),
  ];
}

function insideLines({ host, switches, nvlinks, switched, numbering }: FoundInside): string[] {
  const below = (gpus: readonly string[], nics: readonly string[]): string => [...gpus, ...nics].join(", ");
  return [
    ...switches.map(
      ({ cpu, gpus, nics, inner }) =>
        `${host}: PCIe switch on ${cpu}: ${
          inner.length === 0 ? below(gpus, nics) : inner.map((one) => `[${below(one.gpus, one.nics)}]`).join(" ")
        }`,
    ),
    switched
      ? `${host}: GPUs on NVSwitches`
      : `${host}: NVLinks ${nvlinks.map(({ pair, links }) => (links === 1 ? pair : `${pair}*${links}`)).join(" ")}`,
    `${host}: ${numbering.name} numbers: ${numbering.gpus.join(", ")}`,
  ];
}
