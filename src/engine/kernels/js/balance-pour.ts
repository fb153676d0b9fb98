/**
 * The JavaScript twin of native/kernels/balance_pour.h, function by function: shards of a few classes are poured into ports,
 * each class into its own, so that the fullest port has as little as possible.
 */

/** Columns are long enough for what is in use; `grow` makes them so. */
export interface Pouring {
  classes: number;
  ports: number;
  /** [classes] shards of the class. */
  count: Int32Array;
  /** [classes + 1] Edges of class c, one for each of its ports: offset[c] .. offset[c + 1]. */
  offset: Int32Array;
  /** [edges] */
  edgePort: Int32Array;
  edgeClass: Int32Array;
  flow: Float64Array;
  /** [ports] */
  load: Float64Array;
  /** [classes] by number of ports, then as they came. */
  order: Int32Array;
  /** [ports + 1], [edges] The edges of each port. */
  portOffset: Int32Array;
  portEdge: Int32Array;
  /** [ports] Search: the way to the port leads out of the port of one edge and into it by the other. */
  queue: Int32Array;
  outOf: Int32Array;
  into: Int32Array;
  seenPort: Int32Array;
  seenClass: Int32Array;
  search: number;
}

const none = new Int32Array(0);

export const newPouring = (ports: number): Pouring => ({
  classes: 0,
  ports,
  count: new Int32Array(16),
  offset: new Int32Array(17),
  edgePort: new Int32Array(64),
  edgeClass: new Int32Array(64),
  flow: new Float64Array(64),
  load: new Float64Array(ports),
  order: none,
  portOffset: new Int32Array(ports + 1),
  portEdge: none,
  queue: new Int32Array(ports),
  outOf: new Int32Array(ports),
  into: new Int32Array(ports),
  seenPort: new Int32Array(ports),
  seenClass: none,
  search: 0,
});

/** Empties a pouring for a node with this many ports, at most those that it was made for. */
export function begin(p: Pouring, ports: number): void {
  p.classes = 0;
  p.ports = ports;
  p.offset[0] = 0;
}

/** Returns the column, longer where it has no room for this many elements. */
function grown<T extends Int32Array | Float64Array>(column: T, length: number): T {
  if (column.length >= length) return column;
  const longer = new (column.constructor as new (length: number) => T)(2 * length);
  longer.set(column as never);
  return longer;
}

/** Adds a class without shards and ports; `addPort` gives it a port, ascending. */
export function addClass(p: Pouring): void {
  p.count = grown(p.count, p.classes + 1);
  p.offset = grown(p.offset, p.classes + 2);
  p.count[p.classes] = 0;
  p.offset[p.classes + 1] = p.offset[p.classes];
  p.classes++;
}

export function addPort(p: Pouring, port: number): void {
  const edge = p.offset[p.classes]++;
  p.edgePort = grown(p.edgePort, edge + 1);
  p.edgeClass = grown(p.edgeClass, edge + 1);
  p.flow = grown(p.flow, edge + 1);
  p.edgePort[edge] = port;
  p.edgeClass[edge] = p.classes - 1;
}

/** Pours whole shards, classes with fewer ports first, each shard into the emptiest of its ports. O(shards * ports). */
export function pour(p: Pouring): void {
  const { classes, ports, count, offset, edgePort, flow, load } = p;
  orderClasses(p);
  load.fill(0, 0, ports);
  flow.fill(0, 0, offset[classes]);
  for (let i = 0; i < classes; i++) {
    const c = p.order[i];
    const first = offset[c];
    const end = offset[c + 1];
    if (end - first === 1) {
      flow[first] = count[c];
      load[edgePort[first]] += count[c];
      continue;
    }
    for (let shard = 0; shard < count[c]; shard++) {
      let best = first;
      for (let e = first + 1; e < end; e++) if (load[edgePort[e]] < load[edgePort[best]]) best = e;
      flow[best]++;
      load[edgePort[best]]++;
    }
  }
}

/** Sorts the classes by their number of ports, stably, and groups the edges by port. */
function orderClasses(p: Pouring): void {
  const { classes, ports, offset, edgePort, portOffset } = p;
  const edges = offset[classes];
  p.order = grown(p.order, classes);
  p.portEdge = grown(p.portEdge, edges);
  const { order, portEdge } = p;
  const start = new Int32Array(ports + 2);
  for (let c = 0; c < classes; c++) start[offset[c + 1] - offset[c] + 1]++;
  for (let k = 0; k <= ports; k++) start[k + 1] += start[k];
  for (let c = 0; c < classes; c++) order[start[offset[c + 1] - offset[c]]++] = c;
  portOffset.fill(0, 0, ports + 1);
  for (let e = 0; e < edges; e++) portOffset[edgePort[e]]++;
  for (let k = 0, sum = 0; k <= ports; k++) {
    const here = k < ports ? portOffset[k] : 0;
    portOffset[k] = sum;
    sum += here;
  }
  for (let e = 0; e < edges; e++) portEdge[portOffset[edgePort[e]]++] = e;
  for (let k = ports; k > 0; k--) portOffset[k] = portOffset[k - 1];
  portOffset[0] = 0;
}

/** Cuts every shard into this many units. */
export function scale(p: Pouring, units: number): void {
  for (let e = 0; e < p.offset[p.classes]; e++) p.flow[e] *= units;
  for (let k = 0; k < p.ports; k++) p.load[k] *= units;
}

export const greatestLoad = (p: Pouring): number => {
  let most = 0;
  for (let k = 0; k < p.ports; k++) most = Math.max(most, p.load[k]);
  return most;
};

/** Ports that hold only shards which fit nowhere else, and what they hold. */
export interface Tight {
  readonly load: number;
  readonly ports: number;
}

/** Moves units until no port has more than `most`, shortest ways first; where that cannot be, returns ports that have more between them. */
export function relieve(p: Pouring, most: number): Tight | null {
  const { ports, load, flow, edgePort, outOf, into } = p;
  p.seenClass = grown(p.seenClass, p.classes);
  for (let k = 0; k < ports; k++) {
    while (load[k] > most) {
      const found = wayToRoom(p, k, most);
      if (found.goal < 0) return { load: sumOfLoads(p, found.reached), ports: found.reached };
      let amount = Math.min(load[k] - most, most - load[found.goal]);
      for (let at = found.goal; at !== k; at = edgePort[outOf[at]]) amount = Math.min(amount, flow[outOf[at]]);
      for (let at = found.goal; at !== k; at = edgePort[outOf[at]]) {
        flow[outOf[at]] -= amount;
        flow[into[at]] += amount;
      }
      load[k] -= amount;
      load[found.goal] += amount;
    }
  }
  return null;
}

/** Breadth-first from an overfull port over classes that it holds units of, to a port with room. O(edges). */
function wayToRoom(p: Pouring, start: number, most: number): { readonly goal: number; readonly reached: number } {
  const { offset, edgePort, edgeClass, flow, load, portOffset, portEdge, queue, outOf, into, seenPort, seenClass } = p;
  const search = ++p.search;
  queue[0] = start;
  seenPort[start] = search;
  let reached = 1;
  for (let taken = 0; taken < reached; taken++) {
    const port = queue[taken];
    for (let i = portOffset[port]; i < portOffset[port + 1]; i++) {
      const edge = portEdge[i];
      const c = edgeClass[edge];
      if (flow[edge] === 0 || seenClass[c] === search) continue;
      seenClass[c] = search;
      for (let e = offset[c]; e < offset[c + 1]; e++) {
        const next = edgePort[e];
        if (seenPort[next] === search) continue;
        seenPort[next] = search;
        outOf[next] = edge;
        into[next] = e;
        if (load[next] < most) return { goal: next, reached };
        queue[reached++] = next;
      }
    }
  }
  return { goal: -1, reached };
}

function sumOfLoads(p: Pouring, reached: number): number {
  let load = 0;
  for (let i = 0; i < reached; i++) load += p.load[p.queue[i]];
  return load;
}
