import {
  type FileLink,
  type FileRoute,
  type FileRow,
  type Fraction,
  routeLatencyPs,
  routeSerialPs,
  type ScheduleFile,
  serialPs,
} from "./formats-file.ts";

/** The replay of a schedule file from the words of FORMATS.md, "How a schedule is replayed"; nothing of src/ is used. */

export type FileSwitching = "cut-through" | "store-and-forward" | "reference";

/** A row with the start by which its order and its arrivals are counted, and what the replay makes of it. */
interface Replayed extends FileRow {
  plannedPs: number;
  arrivals: Replayed[];
  beganPs: number;
  arrivedPs: number;
}

export const defaultSwitching = ({ relays }: ScheduleFile): FileSwitching =>
  relays ? "store-and-forward" : "cut-through";

/** Returns when the rows of the file, in row order, start and arrive: picoseconds, by reference nanoseconds. */
export function replayFile(file: ScheduleFile, switching = defaultSwitching(file)): { start: number[]; end: number[] } {
  const rows = file.rows.map((row): Replayed => {
    return { ...row, plannedPs: row.startPs, arrivals: [], beganPs: -1, arrivedPs: Number.POSITIVE_INFINITY };
  });
  const shared = file.routes.some(({ hops }) => hops.some(({ share }) => share[0] !== share[1]));
  const ordered = shared && switching !== "reference" ? spread(rows) : rows;
  for (const row of rows) {
    const leadsHere = (one: Replayed): boolean => one.chunk === row.chunk && one.route.to === row.route.from;
    row.arrivals = rows.filter((one) => leadsHere(one) && one.endPs <= row.plannedPs);
  }
  if (switching === "cut-through") cutThrough(ordered);
  else storeAndForward(ordered, switching === "reference");
  return { start: rows.map(({ beganPs }) => beganPs), end: rows.map(({ arrivedPs }) => arrivedPs) };
}

/** Plans the chunks of merged sends one serialisation after another, and returns the rows in order of these starts. */
function spread(rows: readonly Replayed[]): Replayed[] {
  rows.forEach((row, i) => {
    const before = rows[i - 1];
    if (before?.route !== row.route || before.startPs !== row.startPs || before.endPs !== row.endPs) return;
    row.plannedPs = Math.min(before.plannedPs + routeSerialPs(row.route, row.chunk), row.endPs - 1);
  });
  return rows.toSorted((a, b) => a.plannedPs - b.plannedPs);
}

const startsHere = ({ chunk, route }: Replayed): boolean => chunk.from.includes(route.from);

/** Returns when a row is ready, infinity while that is not known. */
function readyPs(row: Replayed): number {
  const came = row.arrivals.map(({ arrivedPs }) => arrivedPs);
  if (row.chunk.sums) return Math.max(0, ...came);
  return startsHere(row) ? 0 : Math.min(...came);
}

function cutThrough(rows: readonly Replayed[]): void {
  const lastStart = new Map<FileLink, number>();
  const routeFree = new Map<FileRoute, number>();
  const held = new Map<FileLink, { until: number; share: Fraction }[]>();
  for (const row of rows) {
    const { hops } = row.route;
    const fits = (time: number): boolean =>
      hops.every(({ link, share: [num, den] }) => {
        const others = (held.get(link) ?? []).filter(({ until }) => until > time);
        const [n, d] = others.reduce(([a, b], { share }) => [a * share[1] + share[0] * b, b * share[1]], [num, den]);
        return n <= d;
      });
    const least = Math.max(
      readyPs(row),
      routeFree.get(row.route) ?? 0,
      ...hops.map(({ link }) => lastStart.get(link) ?? 0),
    );
    const frees = hops.flatMap(({ link }) => (held.get(link) ?? []).map(({ until }) => until));
    const times = [least, ...frees.filter((time) => time > least)].sort((a, b) => a - b);
    row.beganPs = times.find(fits) as number;
    const until = row.beganPs + routeSerialPs(row.route, row.chunk);
    row.arrivedPs = until + routeLatencyPs(row.route);
    routeFree.set(row.route, until);
    for (const { link, share } of hops) {
      lastStart.set(link, row.beganPs);
      held.set(link, [...(held.get(link) ?? []), { until, share }]);
    }
  }
}

/** A link, the rows that begin with it and are not handed over, and those that wait for it to be free. */
interface Queue {
  readonly turns: Replayed[];
  readonly waiting: Replayed[];
  busy: boolean;
}

function storeAndForward(rows: readonly Replayed[], reference: boolean): void {
  const queues = new Map<FileLink, Queue>();
  const queueOf = (link: FileLink): Queue => {
    if (!queues.has(link)) queues.set(link, { turns: [], waiting: [], busy: false });
    return queues.get(link) as Queue;
  };
  const firstOf = ({ route }: Replayed): Queue => queueOf((route.hops[0] as { link: FileLink }).link);
  for (const row of rows) firstOf(row).turns.push(row);
  const hop = new Map<Replayed, number>(rows.map((row) => [row, 0]));
  // in order of time, then of the beginnings of the transmissions; `row` arrives or the link is free
  const events: { time: number; row: Replayed | null; queue: Queue }[] = [];
  const put = (time: number, row: Replayed | null, queue: Queue): void => {
    const at = events.findIndex((event) => event.time > time);
    events.splice(at < 0 ? events.length : at, 0, { time, row, queue });
  };
  const begin = (row: Replayed, link: FileLink, now: number): void => {
    const queue = queueOf(link);
    queue.busy = true;
    const [serial, delay] = timesOn(link, row, reference);
    put(now + delay, row, queue);
    put(now + serial, null, queue);
    if (hop.get(row) === 0) row.beganPs = now;
  };
  const enter = (row: Replayed, now: number): void => {
    const { link } = row.route.hops[hop.get(row) as number] as { link: FileLink };
    if (queueOf(link).busy) queueOf(link).waiting.push(row);
    else begin(row, link, now);
  };
  const handOver = (now: number): void => {
    for (const row of rows) {
      const { turns } = firstOf(row);
      const at = turns.indexOf(row);
      if (at < 0 || (at > 0 && !reference) || readyPs(row) > now) continue;
      turns.splice(at, 1);
      enter(row, now);
    }
  };
  handOver(0);
  for (let event = events.shift(); event !== undefined; event = events.shift()) {
    const { time, row, queue } = event;
    if (row === null) {
      queue.busy = false;
      const next = queue.waiting.shift();
      if (next !== undefined) enter(next, time);
      continue;
    }
    const next = (hop.get(row) as number) + 1;
    hop.set(row, next);
    if (next < row.route.hops.length) enter(row, time);
    else {
      row.arrivedPs = time;
      handOver(time);
    }
  }
}

/** Returns serialisation, and serialisation + latency, of a row on a link. */
function timesOn({ bytesPerSecond, latencyPs }: FileLink, { chunk }: Replayed, reference: boolean): [number, number] {
  const serial = serialPs(chunk.bytes, bytesPerSecond, [1n, 1n]);
  if (!reference) return [serial, serial + latencyPs];
  const [num, den] = chunk.bytes;
  const divisor = den * bytesPerSecond;
  const exact = num * 10n ** 12n;
  return [Number(exact / (1000n * divisor)), Number((exact + BigInt(latencyPs) * divisor) / (1000n * divisor))];
}
