import { linksOf } from "./formats-file.ts";

/** Logs of a `.bys` file from the words of FORMATS.md; nothing of src/ is used. Files are as the project writes them. */

// biome-ignore lint/suspicious/noExplicitAny: a parsed header.
type Json = any;

const up8 = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** Returns what of `list` is k-th among those with equal keys, by key and k. */
function ranked(keys: readonly string[]): { rank: number[]; at: (key: string, rank: number) => number } {
  const groups = new Map<string, number[]>();
  const rank = keys.map((key, i) => {
    if (!groups.has(key)) groups.set(key, []);
    return (groups.get(key) as number[]).push(i) - 1;
  });
  return { rank, at: (key, r) => (groups.get(key) as number[])[r] as number };
}

/** Returns the JSON schedule whose transfers the logs of the file stand for. */
export function logsAsTransfers(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const u32 = (at: number): number => view.getUint32(at, true);
  const headerEnd = 20 + u32(12);
  const header: Json = JSON.parse(new TextDecoder().decode(bytes.subarray(20, headerEnd)));
  const { slotPs, count, passes, symmetry, origin } = header.slots;
  const npus: string[] = header.topology.nodes.flatMap(({ id, kind }: Json) => (kind === "npu" ? [id] : []));
  const routeEnds: [number, number][] = header.routes.map(({ links }: Json) => {
    const nodeAt = (name: string, side: 0 | 1): number => npus.indexOf((name.split("#")[0] as string).split(">")[side]);
    return [nodeAt(links[0], 0), nodeAt(links.at(-1), 1)];
  });
  const last = origin.length - 1;
  const width = last <= 255 ? 1 : last <= 65_535 ? 2 : 4;
  const arrivals: { chunk: number; route: number; slot: number }[] = [];

  for (let at = headerEnd; u32(at) !== 0x53444e45; at += 32 + up8(u32(at + 20))) {
    const [first, logs] = [u32(at + 8), u32(at + 16)];
    const chunksAt = up8(4 * logs);
    let port = chunksAt + up8(logs * origin.length * width);
    for (let k = 0; k < logs; k++) {
      const npu = first + k;
      const into = [...routeEnds.keys()].filter((r) => routeEnds[r]?.[1] === npu);
      const perSlot = Math.ceil(into.length / 8);
      let next = k * origin.length + origin.filter((o: number) => o === npu).length;
      for (let byte = 0; byte < u32(at + 32 + 4 * k); byte++, port++) {
        for (let bit = 0; bit < 8; bit++) {
          if (((view.getUint8(at + 32 + port) >> bit) & 1) === 0) continue;
          const place = at + 32 + chunksAt + width * next++;
          const chunk = width === 1 ? view.getUint8(place) : width === 2 ? view.getUint16(place, true) : u32(place);
          const route = into[(byte % perSlot) * 8 + bit] as number;
          arrivals.push({ chunk, route, slot: Math.floor(byte / perSlot) });
        }
      }
    }
  }

  const chunksOf = ranked(origin.map(String));
  const routesOf = ranked(routeEnds.map(String));
  const figures = linksOf(header.topology);
  const alike = header.routes.map(({ links, share }: Json, r: number) => {
    const way = links.map((name: string) => [figures.get(name)?.bytesPerSecond, figures.get(name)?.latencyPs]);
    return `${routeEnds[r]} ${way} ${share}`;
  });
  const likeRoutes = ranked(alike);
  const all = symmetry === null ? arrivals : npus.flatMap((_, v) => arrivals.map((one) => moved(one, v)));
  function moved({ chunk, route, slot }: (typeof arrivals)[number], v: number) {
    const added = (npu: number): number => {
      let [x, left, by, stride] = [0, npu, v, 1];
      for (const size of symmetry as number[]) {
        x += stride * (((left % size) + (by % size)) % size);
        [left, by, stride] = [Math.floor(left / size), Math.floor(by / size), stride * size];
      }
      return x;
    };
    const [ends, ...rest] = alike[route].split(" ");
    const like = [ends.split(",").map((npu: string) => added(Number(npu))), ...rest].join(" ");
    return {
      chunk: chunksOf.at(String(added(origin[chunk])), chunksOf.rank[chunk] as number),
      route: likeRoutes.at(like, likeRoutes.rank[route] as number),
      slot,
    };
  }

  const rows = (passes as Json[]).flatMap(({ reversed, reduces }, p) =>
    all.map(({ chunk, route, slot }) => {
      const [from, to] = routeEnds[route] as [number, number];
      const startPs = (p * count + (reversed ? count - 1 - slot : slot)) * slotPs;
      const mirror = reversed ? routesOf.at(String([to, from]), routesOf.rank[route] as number) : route;
      return { chunk, route: mirror, startPs, endPs: startPs + slotPs, op: reduces ? 1 : 0 };
    }),
  );
  const column = (name: "chunk" | "route" | "startPs" | "endPs" | "op"): number[] => rows.map((row) => row[name]);
  const transfers = {
    chunk: column("chunk"),
    route: column("route"),
    startPs: column("startPs"),
    endPs: column("endPs"),
    op: column("op"),
  };
  return JSON.stringify({ ...header, slots: undefined, transfers });
}
