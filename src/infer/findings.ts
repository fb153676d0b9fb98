import { addTo } from "../model/numbers/ordering.ts";
import type { Findings, FoundClass, FoundInside, FoundPairs } from "../model/probe/findings.ts";
import { type Equals, equalsAmong } from "./equals.ts";
import type { Inferred } from "./infer.ts";

/** Returns what was inferred as plain data for reports. O(pairs x resources on ways). */
export function findingsOf(inferred: Inferred): Findings {
  const { endpoints, figures, sharing, forwarders, check, unexplained, asked } = inferred;
  const n = endpoints.length;
  const pairName = (p: number): string => `${endpoints[Math.floor(p / n)].name}>${endpoints[p % n].name}`;
  const users = new Map<number, string[]>();
  for (const [p, way] of sharing.ways.entries()) for (const r of way ?? []) addTo(users, r, pairName(p));
  return {
    format: "banyan-probe",
    version: 1,
    endpoints: n,
    hosts: new Set(endpoints.map(({ host }) => host)).size,
    bytes: figures.bytes,
    classes: classesOf(inferred),
    pairs: pairClasses(inferred, pairName),
    sharing: sharing.resources.flatMap(({ name, kind, bytesPerSecond, error }, r) => {
      const pairs = users.get(r) ?? [];
      return pairs.length < 2
        ? []
        : [{ resource: name, kind, bytesPerSecond: { value: bytesPerSecond, error }, pairs }];
    }),
    forwarded: [...forwarders].map(([p, by]) => ({ pair: pairName(p), by: by.map((one) => endpoints[one].name) })),
    machines: inferred.machines.map((machine) => insideOf(machine, inferred)),
    check: {
      experiments: check.experiments,
      flows: check.flows,
      medianError: check.medianError,
      worstError: check.worstError,
      off: check.off.length,
    },
    unexplained,
    asked,
  };
}

function classesOf({ sharing: { resources } }: Inferred): FoundClass[] {
  return [...new Set(resources.map(({ kind }) => kind))].flatMap((kind) => {
    const own = resources.filter((one) => one.kind === kind);
    const equal = equalsAmong(
      own.map(({ bytesPerSecond }) => bytesPerSecond),
      own.map(({ error }) => error),
    );
    return equal.value.map((value, one) => ({
      kind,
      bytesPerSecond: { value, error: equal.error[one] },
      members: own.filter((_, i) => equal.classOf[i] === one).map(({ name }) => name),
    }));
  });
}

function pairClasses({ figures, endpoints }: Inferred, pairName: (p: number) => string): FoundPairs[] {
  const n = endpoints.length;
  const pairs = [...figures.latencyS.keys()].filter(
    (p) => Math.floor(p / n) !== p % n && !Number.isNaN(figures.latencyS[p]),
  );
  const latency = equalsAmong(
    pairs.map((p) => figures.latencyS[p]),
    pairs.map((p) => figures.latencyError[p]),
  );
  const measured = [...pairs.keys()].filter((i) => !Number.isNaN(figures.rate[pairs[i]]));
  const rate = equalsAmong(
    measured.map((i) => figures.rate[pairs[i]]),
    measured.map((i) => figures.rateError[pairs[i]]),
  );
  const rateClass = new Map(measured.map((i, k) => [i, rate.classOf[k]]));
  const groups = new Map<string, number[]>();
  for (const i of pairs.keys()) addTo(groups, `${latency.classOf[i]} ${rateClass.get(i) ?? -1}`, i);
  const figure = ({ value, error }: Equals, one: number) => ({ value: value[one], error: error[one] });
  return [...groups.values()].map((own) => {
    const known = rateClass.get(own[0]);
    return {
      latencyS: figure(latency, latency.classOf[own[0]]),
      bytesPerSecond: known === undefined ? null : figure(rate, known),
      pairs: own.length,
      example: pairName(pairs[own[0]]),
    };
  });
}

function insideOf(machine: Inferred["machines"][number], { endpoints }: Inferred): FoundInside {
  const { host, gpus, switches, nvlinkCounts, switched, usual } = machine;
  const names = (list: readonly number[]): string[] => list.map((one) => endpoints[one].name);
  const nvlinks = gpus.flatMap((a, i) =>
    gpus.flatMap((b, j) => {
      const links = nvlinkCounts[i * gpus.length + j];
      return j > i && links > 0 ? [{ pair: `${endpoints[a].name}=${endpoints[b].name}`, links }] : [];
    }),
  );
  return {
    host,
    switches: switches.map((one) => ({
      cpu: endpoints[one.cpu].name,
      gpus: names(one.gpus),
      nics: names(one.nics),
      inner: one.inner.map((below) => ({ gpus: names(below.gpus), nics: names(below.nics) })),
    })),
    nvlinks,
    switched,
    numbering: { name: usual.name, gpus: names(usual.order) },
  };
}
