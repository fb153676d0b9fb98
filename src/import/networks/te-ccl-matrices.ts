import { InputError } from "../../base/errors.ts";
import { bandwidthFromGBps, PS_PER_SECOND } from "../../model/numbers/units.ts";
import type { TopologyBuilder } from "../../model/topology/topology-builder.ts";
import { asInteger, asList, asObject, placeIn, refuse } from "../text/json-value.ts";

interface Matrices {
  readonly capacity?: unknown;
  readonly alpha?: unknown;
  readonly switch_indices?: unknown;
}

/**
 * Adds the nodes and links of TE-CCL's matrices: `capacity` [from][to] in GB/s, 0 where there is no link, `alpha` [from][to]
 * in seconds, and `switch_indices`. NPUs are named by their ranks, switches `sw0` ... Throws InputError with the place.
 */
export function addTeCclMatrices(builder: TopologyBuilder, value: object, fileName: string): void {
  const fields = asObject<Matrices>(value, fileName);
  const at = (path: string): string => placeIn(fileName, path);
  const capacity = asList(fields.capacity, at("capacity"), "a square matrix");
  const count = capacity.length;
  const rows = (matrix: unknown, key: string): (readonly unknown[])[] => {
    const list = asList(matrix, at(key), `a matrix of ${count} rows`);
    if (list.length !== count) throw new InputError(at(key), `${count} rows`, `${list.length}`);
    return list.map((row, i) => {
      const cells = asList(row, at(`${key}[${i}]`), `${count} numbers`);
      if (cells.length !== count) throw new InputError(at(`${key}[${i}]`), `${count} numbers`, `${cells.length}`);
      return cells;
    });
  };
  const rates = rows(capacity, "capacity");
  const alphas = rows(fields.alpha, "alpha");
  const switches = new Set(
    asList(fields.switch_indices ?? [], at("switch_indices")).map((index, i) =>
      asInteger(index, at(`switch_indices[${i}]`), 0, count - 1),
    ),
  );
  let npus = 0;
  let hubs = 0;
  for (let node = 0; node < count; node++) {
    if (switches.has(node)) builder.addSwitch(`sw${hubs++}`);
    else builder.addNpu(String(npus++));
  }
  for (let from = 0; from < count; from++) {
    for (let to = 0; to < count; to++) {
      const rate = rates[from]?.[to];
      if (rate === 0) continue;
      const place = `[${from}][${to}]`;
      if (from === to) throw new InputError(at(`capacity${place}`), "0, as no node has a link to itself,", rate);
      const alpha = alphas[from]?.[to];
      const ps = typeof alpha === "number" ? Math.round(alpha * PS_PER_SECOND) : Number.NaN;
      if (!Number.isSafeInteger(ps) || ps < 0) refuse(at(`alpha${place}`), "a latency in seconds, 0 or more", alpha);
      builder.addLink(from, to, bandwidthFromGBps(rate, at(`capacity${place}`)), ps);
    }
  }
}
