import type { NetworkDimension } from "../model/dimensions/dimensions.ts";
import { add, divide, multiply, type Rational, rational, toNumber } from "../model/numbers/rational.ts";
import { formatBandwidth, formatShare, formatSize, formatTime } from "../model/numbers/units.ts";
import { PHASE_REDUCE_SCATTER, type PhaseSchedule } from "../model/phases/phase-schedule.ts";
import { phaseLane, phaseTimes } from "../model/phases/phase-times.ts";

/** Only the most frequent orders are described. */
const ORDERS = 6;

const OPS = ["reduce-scatter", "all-gather"] as const;
/** What lanes are called, of one and of two. */
const LANES = [[""], [" up", " down"]] as const;
export const counted = (many: number, one: string): string => `${many} ${one}${many === 1 ? "" : "s"}`;

/** What a dimension does. */
interface Load {
  phases: number;
  bytes: Rational;
  /** Of each lane (phaseLane). */
  readonly busyPs: [number, number];
  lastPs: number;
}

/**
 * Returns what a schedule of phases does, in words, a line each: its dimensions, the orders in which chunks take them, where
 * chunks begin, how busy each dimension is, and which one limits it. The schedule must be correct. O(phases).
 */
export function explainPhases(schedule: PhaseSchedule): string[] {
  const { topology, collective, dimensions, algorithms, endPs } = schedule;
  const { chunksPerNpu, chunkBytes, groupCount, groupSize, kind } = collective;
  const isAll = groupCount === 1 && groupSize === topology.npuCount;
  const where = isAll
    ? ""
    : ` in ${groupCount === 1 ? "a group" : `each of ${groupCount} groups`} of ${groupSize} NPUs`;
  const total = endPs.reduce((last, end) => Math.max(last, end), 0);
  const loads = loadsOf(schedule);
  const bytes = Math.ceil(toNumber(multiply(chunkBytes, rational(kind === "allgather" ? 1 : groupSize))));
  const lines = [
    `${kind} in ${counted(endPs.length, "phase")} of ${counted(chunksPerNpu, "chunk")} within ${counted(dimensions.length, "dimension")} of ${topology.name}${where}, planned for ${formatTime(total)}`,
    `an NPU begins with ${formatSize(bytes)} of each chunk (rounded up)`,
    "",
  ];
  dimensions.forEach((dimension, d) => {
    const { latencyPs } = phaseTimes(dimension, algorithms[d], PHASE_REDUCE_SCATTER, rational(1));
    lines.push(
      `dimension ${d}: ${dimensionText(dimension)} by ${algorithms[d]}, ${formatBandwidth(dimension.bytesPerSecond)} an NPU, ${formatTime(latencyPs)} of latency a phase`,
    );
  });
  lines.push("", ...orderLines(schedule), "");
  loads.forEach(({ phases, bytes: sent, busyPs, lastPs }, d) => {
    const size = formatSize(Math.ceil(toNumber(sent)));
    const share = ([up, down]: readonly number[]): string => {
      const shares = algorithms[d] === "offload" ? [up, down] : [up];
      return shares
        .map((ps, lane) => `${formatShare(ps / Math.max(1, total))}${LANES[shares.length - 1][lane]}`)
        .join(", ");
    };
    lines.push(
      `dimension ${d}: each NPU sends ${size} in ${counted(phases, "phase")}, busy ${share(busyPs)} of the time, serialises until ${formatTime(lastPs)}`,
    );
  });
  lines.push(limitLine(schedule, loads, total));
  return lines;
}

const dimensionText = ({ kind, size }: NetworkDimension): string =>
  `${kind === "fc" ? "fully connected lines" : kind === "switch" ? "switches" : `${kind}s`} of ${size}`;

function loadsOf({ collective, dimensions, algorithms, chunk, dimension, op, startPs }: PhaseSchedule): Load[] {
  const { kind, groupSize, chunkBytes, chunksPerNpu } = collective;
  const loads = dimensions.map((): Load => ({ phases: 0, bytes: rational(0), busyPs: [0, 0], lastPs: 0 }));
  const whole = multiply(chunkBytes, rational(groupSize));
  const holders = new Float64Array(chunksPerNpu).fill(kind === "allgather" ? groupSize : 1);
  for (let row = 0; row < chunk.length; row++) {
    const [c, d] = [chunk[row], dimension[row]];
    const { size } = dimensions[d];
    const scatters = op[row] === PHASE_REDUCE_SCATTER;
    if (!scatters) holders[c] /= size;
    const { serialPs, bytesSent } = phaseTimes(
      dimensions[d],
      algorithms[d],
      op[row],
      divide(whole, rational(holders[c])),
    );
    if (scatters) holders[c] *= size;
    const load = loads[d];
    load.phases++;
    load.bytes = add(load.bytes, bytesSent);
    load.busyPs[phaseLane(algorithms[d], op[row]) === 0 ? 0 : 1] += serialPs;
    load.lastPs = Math.max(load.lastPs, startPs[row] + serialPs);
  }
  return loads;
}

/** Tells the orders of chunks, the most frequent first, and where chunks begin. */
function orderLines({ collective, dimensions, chunk, dimension, op }: PhaseSchedule): string[] {
  const { chunksPerNpu } = collective;
  const orders = Array.from({ length: chunksPerNpu }, (): [number[], number[]] => [[], []]);
  const starts = dimensions.map(() => 0);
  const begun = new Uint8Array(chunksPerNpu);
  for (let row = 0; row < chunk.length; row++) {
    const c = chunk[row];
    orders[c]?.[op[row] === PHASE_REDUCE_SCATTER ? 0 : 1].push(dimension[row]);
    if (begun[c] === 0) starts[dimension[row]]++;
    begun[c] = 1;
  }
  const told = new Map<string, number>();
  for (const order of orders) {
    const parts = order.flatMap((own, k) => (own.length === 0 ? [] : [`${OPS[k]}s over ${own.join(", ")}`]));
    const text = parts.join(", then ");
    told.set(text, (told.get(text) ?? 0) + 1);
  }
  const sorted = [...told].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
  const lines = sorted.slice(0, ORDERS).map(([text, many]) => `${counted(many, "chunk")}: ${text}`);
  if (sorted.length > ORDERS) {
    const rest = sorted.slice(ORDERS).reduce((sum, [, many]) => sum + many, 0);
    lines.push(`${counted(rest, "chunk")}: ${sorted.length - ORDERS} other orders`);
  }
  const where = starts.map((many, d) => `${many} in dimension ${d}`).join(", ");
  return [...lines, `chunks begin: ${where}`];
}

/** Tells which dimension is busiest, and how long it waits. */
function limitLine({ dimensions }: PhaseSchedule, loads: readonly Load[], total: number): string {
  const busy = loads.map(({ busyPs }) => Math.max(...busyPs));
  const most = Math.max(...busy);
  const busiest = busy.indexOf(most);
  if (total === 0) return "limit: nothing moves";
  const idle = Math.max(0, total - most);
  const rate = dimensions[busiest].bytesPerSecond;
  const wait =
    idle === 0 ? "it never waits" : `it waits for chunks or their latency ${formatTime(idle)} of ${formatTime(total)}`;
  return `limit: dimension ${busiest} (${formatBandwidth(rate)} an NPU) is the busiest; ${wait}`;
}
