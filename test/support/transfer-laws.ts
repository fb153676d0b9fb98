import type { MatchProblem, RelayProblem, TenNetwork, Transfers } from "../../src/engine/contract/kernels.ts";
import { deliveriesOf } from "../../src/engine/kernels/outputs.ts";

/**
 * What every answer of a kernel must satisfy, re-derived from the problem alone. Each function returns the broken laws
 * in words; none means that all hold.
 */

function brokenShape(network: TenNetwork, chunkCount: number, { chunk, route, startPs }: Transfers): string[] {
  const broken: string[] = [];
  let lastEnd = 0;
  for (let i = 0; i < chunk.length; i++) {
    if (!(chunk[i] >= 0 && chunk[i] < chunkCount)) broken.push(`transfer ${i} carries chunk ${chunk[i]}`);
    if (!(route[i] >= 0 && route[i] < network.slotPs.length)) broken.push(`transfer ${i} takes route ${route[i]}`);
    if (!Number.isSafeInteger(startPs[i]) || startPs[i] < 0) broken.push(`transfer ${i} starts at ${startPs[i]}`);
    const end = startPs[i] + network.slotPs[route[i]];
    if (!(end >= lastEnd)) broken.push(`transfer ${i} ends at ${end}, before its predecessor`);
    lastEnd = end;
  }
  return broken;
}

/** At no time is a route used twice or a resource beyond its capacity. */
function brokenOccupancy(network: TenNetwork, { route, startPs }: Transfers): string[] {
  const { slotPs, useOffset, useResource, useUnits, capacity } = network;
  const broken: string[] = [];
  const events: { time: number; change: 1 | -1; transfer: number }[] = [];
  for (let i = 0; i < route.length; i++) {
    events.push({ time: startPs[i], change: 1, transfer: i });
    events.push({ time: startPs[i] + slotPs[route[i]], change: -1, transfer: i });
  }
  // What ends makes room for what starts at the same instant.
  events.sort((a, b) => a.time - b.time || a.change - b.change);
  const carried = new Int32Array(slotPs.length);
  const used = new Int32Array(capacity.length);
  for (const { time, change, transfer } of events) {
    const r = route[transfer];
    carried[r] += change;
    if (carried[r] > 1) broken.push(`route ${r} carries two transfers at ${time}`);
    for (let i = useOffset[r]; i < useOffset[r + 1]; i++) {
      used[useResource[i]] += change * useUnits[i];
      if (used[useResource[i]] > capacity[useResource[i]])
        broken.push(`resource ${useResource[i]} is overused at ${time}`);
    }
  }
  return broken;
}

export function brokenMatchLaws(problem: MatchProblem, transfers: Transfers): string[] {
  const { network, chunkCount, heldOffset, heldChunk, wanted } = problem;
  const { chunk, route, startPs } = transfers;
  const broken = brokenShape(network, chunkCount, transfers);
  if (broken.length > 0) return broken;
  const words = (chunkCount + 31) >>> 5;
  const wants = (v: number, c: number): boolean =>
    wanted === null || ((wanted[v * words + (c >>> 5)] >>> (c & 31)) & 1) === 1;
  const since = new Float64Array(network.npuCount * chunkCount).fill(Number.POSITIVE_INFINITY);
  for (let v = 0; v < network.npuCount; v++) {
    for (let i = heldOffset[v]; i < heldOffset[v + 1]; i++) since[v * chunkCount + heldChunk[i]] = 0;
  }
  for (let i = 0; i < chunk.length; i++) {
    const [source, target] = [network.routeSource[route[i]], network.routeTarget[route[i]]];
    if (!(since[source * chunkCount + chunk[i]] <= startPs[i])) {
      broken.push(`NPU ${source} sends chunk ${chunk[i]} at ${startPs[i]} before it holds it`);
    }
    const at = target * chunkCount + chunk[i];
    if (since[at] !== Number.POSITIVE_INFINITY) broken.push(`NPU ${target} gets chunk ${chunk[i]} that it has`);
    if (!wants(target, chunk[i])) broken.push(`NPU ${target} gets chunk ${chunk[i]} that it does not want`);
    since[at] = startPs[i] + network.slotPs[route[i]];
  }
  for (let at = 0; at < since.length; at++) {
    const [v, c] = [Math.floor(at / chunkCount), at % chunkCount];
    if (since[at] === Number.POSITIVE_INFINITY && wants(v, c)) broken.push(`NPU ${v} misses chunk ${c}`);
  }
  if (chunk.length !== deliveriesOf(problem)) broken.push("the number of transfers is not the number of deliveries");
  return [...broken, ...brokenOccupancy(network, transfers)];
}

export function brokenRelayLaws(problem: RelayProblem, transfers: Transfers): string[] {
  const { network, chunkSource, chunkTarget, distancePs } = problem;
  const { chunk, route, startPs } = transfers;
  const n = network.npuCount;
  const broken = brokenShape(network, chunkSource.length, transfers);
  if (broken.length > 0) return broken;
  const place = Int32Array.from(chunkSource);
  const since = new Float64Array(chunkSource.length);
  for (let i = 0; i < chunk.length; i++) {
    const c = chunk[i];
    const [source, target] = [network.routeSource[route[i]], network.routeTarget[route[i]]];
    if (place[c] !== source) broken.push(`chunk ${c} leaves NPU ${source} but is at ${place[c]}`);
    if (startPs[i] < since[c]) broken.push(`chunk ${c} leaves NPU ${source} before it is there`);
    const away = (v: number): number => distancePs[v * n + chunkTarget[c]];
    if (!(away(target) < away(source))) broken.push(`chunk ${c} does not come closer over route ${route[i]}`);
    place[c] = target;
    since[c] = startPs[i] + network.slotPs[route[i]];
  }
  for (let c = 0; c < place.length; c++) if (place[c] !== chunkTarget[c]) broken.push(`chunk ${c} ends at ${place[c]}`);
  return [...broken, ...brokenOccupancy(network, transfers)];
}
