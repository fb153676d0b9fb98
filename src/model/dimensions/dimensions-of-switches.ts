import { isNpu, switchCount, type Topology } from "../topology/topology.ts";

/** The NPUs of a switch and their links to and from it. */
export interface SwitchPorts {
  readonly npus: number[];
  readonly up: number[];
  readonly down: number[];
}

/** One dimension of a grid: NPU id / stride modulo size is the coordinate. */
export interface GridDimension {
  readonly size: number;
  readonly stride: number;
}

/** Returns the ports of every switch; null where it has links to other switches, two to one NPU, or one way only. O(links). */
export function switchPorts(topology: Topology): SwitchPorts[] | null {
  const { linkSource, linkTarget, npuCount } = topology;
  const ports = Array.from({ length: switchCount(topology) }, (): SwitchPorts => ({ npus: [], up: [], down: [] }));
  const back = ports.map(() => new Map<number, number>());
  for (let link = 0; link < linkSource.length; link++) {
    if (isNpu(topology, linkSource[link])) continue;
    const leaving = back[linkSource[link] - npuCount];
    if (!isNpu(topology, linkTarget[link]) || leaving.has(linkTarget[link])) return null;
    leaving.set(linkTarget[link], link);
  }
  for (let link = 0; link < linkSource.length; link++) {
    if (isNpu(topology, linkTarget[link])) continue;
    const hub = linkTarget[link] - npuCount;
    const npu = linkSource[link];
    const down = back[hub].get(npu);
    if (down === undefined) return null;
    back[hub].delete(npu);
    ports[hub].npus.push(npu);
    ports[hub].up.push(link);
    ports[hub].down.push(down);
  }
  return back.every((rest) => rest.size === 0) ? ports : null;
}

/** Returns whether the NPUs are one or several whole lines of the dimension: closed under a step along them. */
function isWholeLines({ size, stride }: GridDimension, npus: readonly number[]): boolean {
  if (npus.length === 0 || npus.length % size !== 0) return false;
  const has = new Set(npus);
  return npus.every((npu) => {
    const x = Math.floor(npu / stride) % size;
    return has.has(x + 1 < size ? npu + stride : npu - x * stride);
  });
}

/**
 * Returns the dimension of each switch: the one of whose lines its NPUs are exactly one; those left over are of the only
 * dimension that nothing joins so far (`joined`), of which their NPUs are several lines. Null where that is not so.
 */
export function dimensionsOfSwitches(
  grid: readonly GridDimension[],
  joined: readonly boolean[],
  ports: readonly SwitchPorts[],
): Int32Array | null {
  const of = Int32Array.from(ports, ({ npus }) =>
    grid.findIndex((one) => one.size === npus.length && isWholeLines(one, npus)),
  );
  const open = grid.map((_, d) => d).filter((d) => !joined[d] && !of.includes(d));
  for (let hub = 0; hub < ports.length; hub++) {
    if (of[hub] >= 0) continue;
    if (open.length !== 1 || !isWholeLines(grid[open[0]], ports[hub].npus)) return null;
    of[hub] = open[0];
  }
  return of;
}
