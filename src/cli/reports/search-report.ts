import { optionName } from "../../base/option-names.ts";
import { collectiveName } from "../../model/collective/collective.ts";
import { formatBandwidth, formatSize, toGBps } from "../../model/numbers/units.ts";
import { significant, timeText } from "../../report/amounts.ts";
import { type SearchReport, type SearchRow, timeOf } from "../../run/search/search.ts";
import type { Context } from "../context.ts";
import { table } from "./table.ts";
import { type Align, labelled } from "./text.ts";

interface Column {
  readonly head: string;
  readonly align: Align;
  readonly cell: (row: SearchRow) => string;
  /** Of the theoretical bound. */
  readonly bound: string;
}

/** Returns the report of a search for people: a table of networks, the bound, and which to take. */
export function searchReport(report: SearchReport, { style }: Pick<Context, "style">): string[] {
  const { rows, best } = report;
  const columns = columnsOf(report);
  const cells = rows.map((row, i) => {
    const line = columns.map(({ cell }) => cell(row));
    return i === best ? line.map((cell) => (cell === "" ? cell : style.bold(cell))) : line;
  });
  const lines = table(
    columns.map(({ head }) => style.dim(head)),
    [...cells, columns.map(({ bound }) => bound)],
    columns.map(({ align }) => align),
  );
  const pairs = report.bidirectional
    ? "; links in opposite pairs"
    : "; links may lead one way (--bidirectional: in pairs)";
  return [
    "",
    labelled("networks", `${report.nodes} nodes of degree ${report.degree}${pairs}`),
    labelled(
      "figures",
      `alpha ${timeText(report.alphaUs)}, ${formatBandwidth(report.bytesPerSecond)} per node (${report.degree} ${report.degree === 1 ? "link" : "links"} of ${linkRate(report)}), ${mixText(report)}`,
    ),
    "",
    ...lines,
    "",
    ...reasons(rows),
    labelled("best", recommendation(report)),
    ...fewerLine(report),
    ...fasterLine(report),
    labelled(
      "model",
      "whole steps: a node passes on what it has received whole; cut-through, as `synth` simulates, can be faster",
    ),
    labelled("go on with", synthCommand(report)),
  ].map((line) => `  ${line}`.trimEnd());
}

const mixText = ({ sizes }: SearchReport): string =>
  sizes.map(({ sizeBytes, weight }) => `${sizes.length > 1 ? `${weight} x ` : ""}${formatSize(sizeBytes)}`).join(" + ");

const figure = (value: number): string => value.toFixed(4);
const yes = (holds: boolean): string => (holds ? "yes" : "");

function columnsOf({ rows, bound, best, collective }: SearchReport): Column[] {
  const once = collective === "allgather" || collective === "reducescatter";
  const columns: Column[] = [
    {
      head: "  topology",
      align: "left",
      cell: (row) => `${row === rows[best] ? "*" : " "} ${row.topology}`,
      bound: "  bound",
    },
    { head: "T_L/alpha", align: "right", cell: ({ steps }) => String(steps), bound: String(bound.steps) },
    {
      head: "T_B B/M",
      align: "right",
      cell: ({ bandwidthValue }) => figure(bandwidthValue),
      bound: figure(bound.bandwidthValue),
    },
    { head: "diameter", align: "right", cell: ({ diameter }) => String(diameter), bound: String(bound.steps) },
    {
      head: once ? "T_L + T_B" : "2(T_L + T_B)",
      align: "right",
      cell: (row) => timeText(once ? row.allgatherUs : row.allreduceUs),
      bound: timeText(once ? bound.allgatherUs : bound.allreduceUs),
    },
  ];
  if (rows.some(({ alltoall }) => alltoall !== null)) {
    columns.push(
      {
        head: "all-to-all",
        align: "right",
        cell: ({ alltoallUs }) => (alltoallUs === null ? "" : timeText(alltoallUs)),
        bound: timeText(bound.alltoallUs),
      },
      {
        head: "f at least",
        align: "right",
        cell: ({ alltoall }) => (alltoall === null ? "" : alltoall.rateValue.toExponential(3)),
        bound: "",
      },
      {
        head: "at most",
        align: "right",
        cell: ({ alltoall }) => (alltoall === null ? "" : alltoall.boundValue.toExponential(3)),
        bound: bound.alltoallRateValue.toExponential(3),
      },
    );
  }
  columns.push(
    { head: "Moore", align: "left", cell: ({ mooreOptimal }) => yes(mooreOptimal), bound: "" },
    { head: "BW", align: "left", cell: ({ bandwidthOptimal }) => yes(bandwidthOptimal), bound: "" },
  );
  if (rows.some((row) => simulatedOf(row) !== null))
    columns.push({
      head: "simulated",
      align: "right",
      cell: (row) => {
        const us = simulatedOf(row);
        return us === null ? "" : timeText(us);
      },
      bound: "",
    });
  if (rows.some(({ verdict }) => verdict !== null))
    columns.push({ head: "verified", align: "left", cell: verdictText, bound: "" });
  return columns;
}

/** Returns that fewer ports are better, with which network; nothing where none is known to be. */
function fewerLine({ fewerPorts, bytesPerSecond }: SearchReport): string[] {
  if (fewerPorts === undefined) return [];
  const { degree, topology, us } = fewerPorts;
  const ports = `${degree} ${degree === 1 ? "port" : "ports"} a node`;
  const rate = linkRate({ bytesPerSecond, degree });
  return [
    labelled(
      "fewer ports",
      `are better here: ${topology} takes ${timeText(us)} with ${ports} (${optionName("degree")} ${degree}) of ${rate}: the same bandwidth per node`,
    ),
  ];
}

const simulatedOf = ({ verdict }: SearchRow): number | null => verdict?.simulatedUs ?? null;

/** Differences of simulated times below this are none. */
const AS_FAST = 0.99;

/** Returns which network is faster than the best one where both are simulated; nothing where none is. */
function fasterLine({ rows, best }: SearchReport): string[] {
  const own = simulatedOf(rows[best] as SearchRow);
  if (own === null) return [];
  const [first, least] = rows.reduce<readonly [SearchRow, number]>(
    (found, row) =>
      (simulatedOf(row) ?? Number.POSITIVE_INFINITY) < found[1] ? [row, simulatedOf(row) as number] : found,
    [rows[best] as SearchRow, own],
  );
  if (least > own * AS_FAST) return [];
  return [
    labelled(
      "faster",
      `${first.topology} where a node passes on what it is still receiving: ${timeText(least)} in the simulation, the best by whole steps ${timeText(own)}`,
    ),
  ];
}

function verdictText({ verdict }: SearchRow): string {
  if (verdict === null) return "";
  const { outcome, steps, bandwidth } = verdict;
  if (outcome === "as predicted") return "verified";
  if (outcome === "not made") return "not made";
  return `${outcome === "better" ? "verified, better" : "WORSE"}: ${steps}, ${bandwidth}`;
}

/** Why schedules were not made. */
const reasons = (rows: readonly SearchRow[]): string[] =>
  rows.flatMap(({ topology, verdict }) =>
    verdict?.outcome === "not made" ? [labelled("not made", `${topology}: ${verdict.reason}`)] : [],
  );

function recommendation(report: SearchReport): string {
  const { rows, best, collective, bound } = report;
  const row = rows[best] as SearchRow;
  const time = timeOf(row, collective);
  const times = significant(time / timeOf(bound, collective), 4);
  const one =
    report.sizes.length === 1
      ? `an ${collectiveName(collective)} of ${mixText(report)}`
      : `an ${collectiveName(collective)}`;
  const article = collective === "reducescatter" ? one.replace("an ", "a ") : one;
  return `${row.topology}: ${article} in ${timeText(time)}, ${times} times the bound`;
}

/** Returns the bandwidth of a link as the command takes it: in Gb/s, as networks are sold. */
const linkRate = ({ bytesPerSecond, degree }: Pick<SearchReport, "bytesPerSecond" | "degree">): string =>
  `${8 * toGBps(Math.floor(bytesPerSecond / degree))}Gbps`;

/** Returns the command that makes the schedule of the best network, for the largest size of the mix. */
function synthCommand({ rows, best, degree, bytesPerSecond, alphaUs, sizes, collective }: SearchReport): string {
  const link = `${linkRate({ bytesPerSecond, degree })},${alphaUs}us`;
  const algorithm = collective === "alltoall" ? "mcf" : "expand";
  const size = formatSize(Math.max(...sizes.map(({ sizeBytes }) => sizeBytes))).replace(" ", "");
  const { topology } = rows[best] as SearchRow;
  return `banyan synth '${topology}@${link}' --algorithm ${algorithm} --collective ${collective} --size ${size}`;
}
