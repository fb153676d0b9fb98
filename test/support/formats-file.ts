/**
 * A schedule's JSON as FORMATS.md says it is, for judges written from that text alone: nothing of src/ is used. Files are as
 * the project writes them, so nothing is checked.
 */

/** Numerator and denominator. */
export type Fraction = readonly [bigint, bigint];

export interface FileLink {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly bytesPerSecond: bigint;
  readonly latencyPs: number;
}

export interface FileRoute {
  readonly id: number;
  readonly from: string;
  readonly to: string;
  readonly hops: readonly { readonly link: FileLink; readonly share: Fraction }[];
}

/** What a chunk is and between whom it goes. */
export interface FileChunk {
  readonly tenant: number;
  readonly id: number;
  readonly bytes: Fraction;
  readonly sums: boolean;
  readonly from: readonly string[];
  readonly to: readonly string[];
}

export interface FileRow {
  readonly chunk: FileChunk;
  readonly route: FileRoute;
  readonly startPs: number;
  readonly endPs: number;
  readonly op: number;
}

export interface ScheduleFile {
  readonly routes: readonly FileRoute[];
  readonly chunks: readonly FileChunk[];
  /** In row order. */
  readonly rows: readonly FileRow[];
  /** A route passes an NPU on its way. */
  readonly relays: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: a parsed file.
type Json = any;

export function fraction(text: string | number): Fraction {
  const [num, den = "1"] = `${text}`.split("/");
  return [BigInt(num as string), BigInt(den)];
}

/** Returns bytes / (bandwidth x share) in picoseconds, rounded up. */
export function serialPs([num, den]: Fraction, bytesPerSecond: bigint, [part, whole]: Fraction): number {
  const divisor = den * bytesPerSecond * part;
  return Number((num * 10n ** 12n * whole + divisor - 1n) / divisor);
}

/** Returns the serialisation of a chunk on a route: the longest of its links'. */
export const routeSerialPs = ({ hops }: FileRoute, { bytes }: FileChunk): number =>
  Math.max(...hops.map(({ link, share }) => serialPs(bytes, link.bytesPerSecond, share)));

export const routeLatencyPs = ({ hops }: FileRoute): number => hops.reduce((sum, { link }) => sum + link.latencyPs, 0);

/** Returns the links of a network by their names. */
export function linksOf(topology: Json): Map<string, FileLink> {
  const links = new Map<string, FileLink>();
  const add = (from: string, to: string, bytesPerSecond: bigint, latencyPs: number): void => {
    let name = `${from}>${to}`;
    for (let n = 2; links.has(name); n++) name = `${from}>${to}#${n}`;
    links.set(name, { name, from, to, bytesPerSecond, latencyPs });
  };
  for (const { from, to, bandwidthGBps, bandwidth, latencyUs, latency, bidirectional, count = 1 } of topology.links) {
    const rate = BigInt(bandwidth === undefined ? Math.round(bandwidthGBps * 1e9) : Number.parseInt(bandwidth, 10));
    const ps = latency === undefined ? Math.round(latencyUs * 1e6) : Number.parseInt(latency, 10);
    for (let i = 0; i < count; i++) {
      add(from, to, rate, ps);
      if (bidirectional) add(to, from, rate, ps);
    }
  }
  return links;
}

/** Returns, for block b of a group of n ranks, the ranks that its chunks go from and to. */
function ends(kind: string, b: number, n: number, root: number): [number[], number[]] {
  const all = [...Array(n).keys()];
  switch (kind) {
    case "allgather":
      return [[b], all];
    case "reducescatter":
      return [all, [b]];
    case "allreduce":
      return [all, all];
    case "broadcast":
      return [[root], all];
    case "reduce":
      return [all, [root]];
    case "gather":
      return [[b], [root]];
    case "scatter":
      return [[root], [b]];
    default: // alltoall
      return [[Math.floor(b / n)], [b % n]];
  }
}

function chunksOf({ collective, chunks }: Json, npus: readonly string[], tenant: number): FileChunk[] {
  const { kind, groups, rootRank, sizeBytes, chunksPerNpu } = collective;
  const count = Array.isArray(chunks) ? chunks.length : chunks.count;
  const perGroup = count / groups.length;
  const groupOf = (c: number): string[] =>
    groups[Math.floor(c / perGroup)].map((npu: number | string) => (typeof npu === "number" ? npus[npu] : npu));
  const ids = [...Array(count).keys()];
  if (kind === "custom") {
    const members = (set: Json, c: number): string[] => {
      if (set.kind === "group") return groupOf(c);
      const list = set.kind === "one" ? [set.npu[c]] : set.members.slice(set.offset[c], set.offset[c + 1]);
      return list.map((npu: number) => npus[npu]);
    };
    const { chunkBytes, reduces, pre, post } = collective;
    const whole = { tenant, bytes: fraction(chunkBytes), sums: reduces };
    return ids.map((id) => ({ ...whole, id, from: members(pre, id), to: members(post, id) }));
  }
  const sums = ["reducescatter", "allreduce", "reduce"].includes(kind);
  const parts = (["broadcast", "reduce"].includes(kind) ? 1 : groups[0].length) * chunksPerNpu;
  return ids.map((id) => {
    const group = groupOf(id);
    const [from, to] = ends(kind, Math.floor((id % perGroup) / chunksPerNpu), group.length, rootRank);
    const named = (ranks: number[]): string[] => ranks.map((rank) => group[rank] as string);
    return { tenant, id, bytes: [BigInt(sizeBytes), BigInt(parts)], sums, from: named(from), to: named(to) };
  });
}

/** Returns what the text of a schedule file says, of one collective or of several; its rows in row order. */
export function readScheduleFile(text: string): ScheduleFile {
  const file: Json = JSON.parse(text);
  const npus: string[] = file.topology.nodes.flatMap(({ id, kind }: Json) => (kind === "npu" ? [id] : []));
  const links = linksOf(file.topology);
  const routes: FileRoute[] = file.routes.map(({ links: names, share }: Json, id: number) => {
    const hops = names.map((name: string, i: number) => ({
      link: links.get(name),
      share: fraction(Array.isArray(share) ? share[i] : share),
    }));
    return { id, from: hops[0].link.from, to: hops.at(-1).link.to, hops };
  });
  const tenants: Json[] = file.tenants ?? [file];
  const chunks = tenants.map((one, t) => chunksOf(one, npus, t));
  const rows: FileRow[] = tenants.flatMap(({ transfers }, t) =>
    transfers.chunk.map((c: number, i: number) => ({
      chunk: chunks[t]?.[c],
      route: routes[transfers.route[i]],
      startPs: transfers.startPs[i],
      endPs: transfers.endPs[i],
      op: transfers.op[i],
    })),
  );
  rows.sort(
    (a, b) =>
      a.startPs - b.startPs || a.route.id - b.route.id || a.chunk.tenant - b.chunk.tenant || a.chunk.id - b.chunk.id,
  );
  const relays = routes.some(({ hops }) => hops.slice(1).some(({ link }) => npus.includes(link.from)));
  return { routes, chunks: chunks.flat(), rows, relays };
}
