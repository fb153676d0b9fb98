import { countOf, has, membersOf, type Network, readTask, type Task } from "./collectives.ts";
import {
  bad,
  ceil,
  divisor,
  exact,
  type Fraction,
  fractionAt,
  type Json,
  LARGEST,
  listAt,
  objectAt,
  SECOND,
  wholeAt,
  wholesAt,
  wrong,
} from "./values.ts";

/** Transfers: "What makes a schedule correct" of FORMATS.md. */

export interface Route {
  readonly links: readonly number[];
  readonly share: readonly Fraction[];
  readonly source: number;
  readonly target: number;
  readonly latency: number;
}

/** Transfers in row order; chunks are numbered over all tenants. */
export interface Steps {
  readonly net: Network;
  readonly tasks: readonly Task[];
  readonly routes: readonly Route[];
  readonly tenant: Int32Array;
  readonly chunk: Float64Array;
  readonly route: Int32Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly op: Uint8Array;
  /** Rows in order of (end, start, route, op). */
  readonly byEnd: Int32Array;
  /** The first chunk of each tenant. */
  readonly first: readonly number[];
  /** Returns the serialisation of a tenant's chunk on a route, on a link. */
  readonly serial: (tenant: number, route: number) => number;
  readonly linkSerial: (tenant: number, link: number) => number;
}

export function readRoutes(value: unknown, net: Network): Route[] {
  const named = new Map<string, number>();
  const seen = new Map<string, number>();
  net.from.forEach((from, link) => {
    const name = `${net.names[from]}>${net.names[net.to[link] as number]}`;
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    named.set(nth === 1 ? name : `${name}#${nth}`, link);
  });
  const linkAt = (name: unknown, place: string): number =>
    typeof name === "string"
      ? (named.get(name) ?? bad(place, "the name of a link", name))
      : wholeAt(name, place, 0, net.from.length - 1);
  return listAt(value, "routes").map((entry, id) => {
    const place = `routes[${id}]`;
    const { links: list, share: shares, id: own } = objectAt(entry, place);
    if (own !== id) bad(`${place}.id`, String(id), own);
    const links = listAt(list, `${place}.links`).map((name) => linkAt(name, `${place}.links`));
    const each = Array.isArray(shares) ? shares : links.map(() => shares);
    if (links.length === 0 || each.length !== links.length) bad(place, "links, and a share for each", list);
    const share = each.map((one) => fractionAt(one, `${place}.share`));
    const [source, target] = [net.from[links[0] as number], net.to[links.at(-1) as number] as number];
    if (source >= net.npus || target >= net.npus) bad(place, "a route from an NPU to an NPU", list);
    links.forEach((link, i) => {
      if (i > 0 && net.from[link] !== net.to[links[i - 1] as number]) bad(place, "links that follow each other", list);
    });
    const latency = links.reduce((sum, link) => sum + net.latency[link], 0);
    return { links, share, source, target, latency };
  });
}

/** Returns the numbers below `count` in an order; those that tie ascend. */
export function ordered(count: number, before: (a: number, b: number) => number): Int32Array {
  const order = Int32Array.from({ length: count }, (_, i) => i);
  for (let i = 1; i < count; i++) if (before(i - 1, i) > 0) return order.sort((a, b) => before(a, b) || a - b);
  return order;
}

export function readSteps(file: Json, net: Network): Steps {
  const routes = readRoutes(file["routes"], net);
  const isJoint = file["version"] === 2;
  const parts = isJoint ? listAt(file["tenants"], "tenants").map((one, t) => objectAt(one, `tenants[${t}]`)) : [file];
  if (parts.length === 0) bad("tenants", "at least one collective", parts);
  const tasks = parts.map((part, t) => readTask(part, isJoint ? `tenants[${t}].` : "", net));
  const columns = parts.map((part, t) => {
    const place = isJoint ? `tenants[${t}].transfers` : "transfers";
    const given = objectAt(part["transfers"], place);
    const chunk = wholesAt(given["chunk"], `${place}.chunk`, tasks[t].chunks - 1);
    const { length } = chunk;
    if (given["count"] !== undefined) wholeAt(given["count"], `${place}.count`, length, length);
    const column = (key: string, most = LARGEST) => wholesAt(given[key], `${place}.${key}`, most, length);
    return {
      chunk,
      route: column("route", routes.length - 1),
      start: column("startPs"),
      end: column("endPs"),
      op: column("op", 1),
    };
  });
  const first = [0];
  for (const [t, { chunks }] of tasks.entries()) first.push(first[t] + chunks);
  const tenant = columns.flatMap(({ chunk }, t) => chunk.map(() => t));
  const joined = (key: "chunk" | "route" | "start" | "end" | "op"): number[] => columns.flatMap((one) => one[key]);
  const [ids, route, start, end, op] = [joined("chunk"), joined("route"), joined("start"), joined("end"), joined("op")];
  const chunk = ids.map((id, i) => first[tenant[i]] + id);
  const by =
    (...keys: readonly (readonly number[])[]) =>
    (a: number, b: number): number => {
      for (const key of keys) if (key[a] !== key[b]) return key[a] - key[b];
      return 0;
    };
  const order = ordered(chunk.length, by(start, route, chunk));
  const sorted = (column: readonly number[]): number[] => Array.from(order, (i) => column[i]);
  const [s, r, e, o] = [sorted(start), sorted(route), sorted(end), sorted(op)];
  const known = tasks.map(() => [new Map<number, number>(), new Map<number, number>()] as const);
  const bytesOf = (t: number): Fraction => tasks[t].bytes;
  const once = (cache: Map<number, number>, key: number, make: () => bigint): number => {
    const ps = cache.get(key) ?? exact(make());
    cache.set(key, ps);
    return ps;
  };
  const took = ([num, den]: Fraction, link: number, [part, whole]: Fraction): bigint =>
    ceil(num * SECOND * whole, den * BigInt(net.rate[link]) * part);
  return {
    ...{ net, tasks, routes, first, byEnd: ordered(chunk.length, by(e, s, r, o)) },
    ...{ tenant: Int32Array.from(sorted(tenant)), chunk: Float64Array.from(sorted(chunk)), route: Int32Array.from(r) },
    ...{ start: Float64Array.from(s), end: Float64Array.from(e), op: Uint8Array.from(o) },
    serial: (t, id) =>
      once((known[t] as (typeof known)[0])[0], id, () => {
        const { links, share } = routes[id];
        const each = links.map((link, i) => took(bytesOf(t), link, share[i]));
        return each.reduce((most, ps) => (ps > most ? ps : most));
      }),
    linkSerial: (t, link) => once((known[t] as (typeof known)[0])[1], link, () => took(bytesOf(t), link, [1n, 1n])),
  };
}

/** Throws Wrong for the first rule of "What makes a schedule correct" that is broken. O(rows log rows), and links of routes. */
export function checkSteps(steps: Steps): void {
  const { tasks, routes, tenant, chunk, route, start, end, op } = steps;
  for (let i = 0; i < chunk.length; ) {
    const t = tenant[i];
    let next = i;
    for (; next < chunk.length && start[next] === start[i] && route[next] === route[i]; next++) {
      if (end[next] <= start[next]) wrong(`row ${next} does not end after its start`);
      if (op[next] === 1 && !tasks[t].sums) wrong(`row ${next} adds, but its collective only copies`);
      if (next === i) continue;
      if (tenant[next] !== t || end[next] !== end[i]) wrong(`route ${route[i]} carries two messages at ${start[i]} ps`);
      if (chunk[next] === chunk[next - 1]) wrong(`a message on route ${route[i]} carries a chunk twice`);
    }
    const needed = routes[route[i] as number].latency + (next - i) * steps.serial(t, route[i]);
    if (end[i] - start[i] < needed) wrong(`row ${i} takes less than the ${needed} ps that it needs`);
    i = next;
  }
  checkLinks(steps);
  const isEnough = tasks.map(neededRows);
  for (let i = 0; i < tenant.length; i++) isEnough[tenant[i] as number]--;
  if (isEnough.some((left) => left > 0)) wrong("there are fewer rows than chunks to be delivered");
  checkCopies(steps);
  checkSums(steps);
}

/** Returns how many NPUs have to be sent a chunk, over all chunks. O(chunks), and the sets of tables. */
export function neededRows({ chunks, pre, post, sums }: Task): number {
  const known = new Map<number, number>();
  const overlap = (chunk: number): number => {
    if (pre.one !== null) return has(post, chunk, pre.one[chunk]) ? 1 : 0;
    if (post.one !== null) return has(pre, chunk, post.one[chunk]) ? 1 : 0;
    const key = pre.of(chunk) * (post.sets.length + 1) + post.of(chunk);
    const own = known.get(key) ?? membersOf(pre, chunk).filter((npu) => has(post, chunk, npu)).length;
    known.set(key, own);
    return own;
  };
  let sum = 0;
  for (let c = 0; c < chunks; c++) sum += countOf(post, c) - (sums && countOf(pre, c) > 1 ? 0 : overlap(c));
  return sum;
}

/** Sweeps over starts and ends: what holds a link's shares, and what holds routes. */
export function checkLinks({ net, routes, route, start, end, byEnd, tenant }: Steps): void {
  const unit: bigint[] = net.from.map(() => 1n);
  for (const { links, share } of routes)
    links.forEach((link, i) => {
      const [, den] = share[i];
      const own = unit[link];
      if (den !== 1n) unit[link] = (own / divisor(own, den)) * den;
    });
  const held: bigint[] = net.from.map(() => 0n);
  const busy = new Int8Array(routes.length);
  const isFirst = (i: number): boolean =>
    i === 0 ||
    route[i] !== route[i - 1] ||
    start[i] !== start[i - 1] ||
    end[i] !== end[i - 1] ||
    tenant[i] !== tenant[i - 1];
  const turn = (row: number, sign: bigint): void => {
    if (!isFirst(row)) return;
    const id = route[row];
    const { links, share } = routes[id];
    busy[id] = busy[id] + Number(sign);
    if (busy[id] > 1) wrong(`route ${id} carries two messages at ${start[row]} ps`);
    for (let i = 0; i < links.length; i++) {
      const link = links[i];
      const [num, den] = share[i];
      held[link] = held[link] + sign * num * (unit[link] / den);
    }
    const over = sign < 0n ? undefined : links.find((link) => held[link] > unit[link]);
    if (over !== undefined) wrong(`more than the whole of link ${over} is held at ${start[row]} ps`);
  };
  let ended = 0;
  for (let row = 0; row < route.length; row++) {
    for (; end[byEnd[ended] as number] <= start[row]; ended++) turn(byEnd[ended], -1n);
    turn(row, 1n);
  }
}

export function checkCopies({ net, tasks, routes, tenant, chunk, route, start, end, first }: Steps): void {
  const since = new Map<number, number>();
  for (let i = 0; i < chunk.length; i++) {
    if (tasks[tenant[i] as number].sums) continue;
    const key = chunk[i] * net.npus + routes[route[i] as number].target;
    since.set(key, Math.min(since.get(key) ?? LARGEST, end[i]));
  }
  const hasBy = (t: number, id: number, npu: number, ps: number): boolean =>
    has(tasks[t].pre, id - first[t], npu) || (since.get(id * net.npus + npu) ?? Infinity) <= ps;
  for (let i = 0; i < chunk.length; i++) {
    const t = tenant[i];
    const { source } = routes[route[i] as number];
    if (!tasks[t].sums && !hasBy(t, chunk[i], source, start[i]))
      wrong(`row ${i} sends chunk ${chunk[i] - first[t]} before it is at ${net.names[source]}`);
  }
  for (const [t, { sums, chunks, post }] of tasks.entries())
    for (let c = 0; c < chunks && !sums; c++)
      for (const npu of membersOf(post, c))
        if (!hasBy(t, first[t] + c, npu, LARGEST)) wrong(`chunk ${c} does not come to ${net.names[npu]}`);
}

/** Carries the rows out with sets of contributions as bits. */
export function checkSums({ net, tasks, routes, tenant, chunk, route, start, end, op, first, byEnd }: Steps): void {
  if (!tasks.some(({ sums }) => sums)) return;
  const held = new Map<number, bigint>();
  const carried: bigint[] = new Array(chunk.length).fill(0n);
  const bits: bigint[] = [];
  const at = (t: number, id: number, npu: number): bigint => {
    const known = held.get(id * net.npus + npu);
    if (known !== undefined) return known;
    const { pre } = tasks[t];
    const c = id - first[t];
    if (!has(pre, c, npu)) return 0n;
    const rank = pre.one === null ? (pre.sets[pre.of(c)].rank.get(npu) as number) : 0;
    bits[rank] ??= 1n << BigInt(rank);
    return bits[rank];
  };
  for (let row = 0, ended = 0; ended < chunk.length; ) {
    const departs = row < chunk.length && start[row] < end[byEnd[ended] as number];
    const i = departs ? row++ : byEnd[ended++];
    const [t, id] = [tenant[i], chunk[i] as number];
    if (!tasks[t].sums) continue;
    const { source, target } = routes[route[i] as number];
    if (departs) {
      carried[i] = at(t, id, source);
      if (carried[i] === 0n) wrong(`row ${i} carries nothing, for ${net.names[source]} has nothing of its chunk`);
      continue;
    }
    const before = op[i] === 0 ? 0n : at(t, id, target);
    if ((before & carried[i]) !== 0n) wrong(`row ${i} adds a contribution twice at ${net.names[target]}`);
    held.set(id * net.npus + target, before | carried[i]);
    carried[i] = 0n;
  }
  for (const [t, { sums, chunks, pre, post }] of tasks.entries())
    for (let c = 0; c < chunks && sums; c++) {
      const all = (1n << BigInt(countOf(pre, c))) - 1n;
      for (const npu of membersOf(post, c))
        if (at(t, first[t] + c, npu) !== all) wrong(`${net.names[npu]} does not have the whole of chunk ${c}`);
    }
}
