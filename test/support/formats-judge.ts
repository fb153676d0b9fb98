import { type FileLink, type FileRow, routeLatencyPs, routeSerialPs, type ScheduleFile } from "./formats-file.ts";

/** The rules of FORMATS.md, "What makes a schedule correct", from their words; nothing of src/ is used. */

/** Returns whether the schedule is correct. */
export const isCorrect = ({ rows, chunks }: ScheduleFile): boolean =>
  rows.every(({ startPs, endPs, op, chunk }) => startPs >= 0 && startPs < endPs && (op === 0 || chunk.sums)) &&
  messagesOf(rows).every(isLongEnough) &&
  fitsOnLinks(messagesOf(rows)) &&
  chunks.every((chunk) => {
    const own = rows.filter((row) => row.chunk === chunk);
    return chunk.sums ? isSummed(chunk.from, chunk.to, own) : isCopied(chunk.from, chunk.to, own);
  });

/** Returns rows of one tenant with equal route, start and end together. */
function messagesOf(rows: readonly FileRow[]): FileRow[][] {
  const messages = new Map<string, FileRow[]>();
  for (const row of rows) {
    const key = [row.chunk.tenant, row.route.id, row.startPs, row.endPs].join();
    messages.set(key, [...(messages.get(key) ?? []), row]);
  }
  return [...messages.values()];
}

function isLongEnough(message: readonly FileRow[]): boolean {
  const [{ route, chunk, startPs, endPs }] = message as [FileRow];
  const isOnce = new Set(message.map((row) => row.chunk)).size === message.length;
  return isOnce && endPs - startPs >= routeLatencyPs(route) + message.length * routeSerialPs(route, chunk);
}

/** Looks at the start of every message, at which alone what is held can grow. */
function fitsOnLinks(messages: readonly FileRow[][]): boolean {
  const firsts = messages.map(([row]) => row as FileRow);
  return firsts.every(({ startPs }) => {
    const now = firsts.filter((row) => row.startPs <= startPs && startPs < row.endPs);
    if (new Set(now.map(({ route }) => route)).size < now.length) return false;
    const held = new Map<FileLink, [bigint, bigint]>();
    for (const { link, share } of now.flatMap(({ route }) => route.hops)) {
      const [num, den] = held.get(link) ?? [0n, 1n];
      held.set(link, [num * share[1] + share[0] * den, den * share[1]]);
    }
    return [...held.values()].every(([num, den]) => num <= den);
  });
}

function isCopied(from: readonly string[], to: readonly string[], rows: readonly FileRow[]): boolean {
  const hasAt = (npu: string, ps: number): boolean =>
    from.includes(npu) || rows.some(({ route, endPs }) => route.to === npu && endPs <= ps);
  return rows.every(({ route, startPs }) => hasAt(route.from, startPs)) && to.every((npu) => hasAt(npu, Infinity));
}

function isSummed(from: readonly string[], to: readonly string[], rows: readonly FileRow[]): boolean {
  const held = new Map<string, readonly string[]>(from.map((npu) => [npu, [npu]]));
  const carried = new Map<FileRow, readonly string[]>();
  const happenings = rows.flatMap((row) => [
    { row, time: row.endPs, arrives: true },
    { row, time: row.startPs, arrives: false },
  ]);
  happenings.sort(
    (a, b) =>
      a.time - b.time ||
      Number(b.arrives) - Number(a.arrives) ||
      a.row.startPs - b.row.startPs ||
      a.row.route.id - b.row.route.id ||
      a.row.op - b.row.op,
  );
  for (const { row, arrives } of happenings) {
    if (!arrives) {
      const payload = held.get(row.route.from) ?? [];
      if (payload.length === 0) return false;
      carried.set(row, payload);
      continue;
    }
    const brought = carried.get(row) as readonly string[];
    const before = row.op === 0 ? [] : (held.get(row.route.to) ?? []);
    if (before.some((npu) => brought.includes(npu))) return false;
    held.set(row.route.to, [...before, ...brought]);
  }
  return to.every((npu) => held.get(npu)?.length === from.length);
}
