import type { Engine } from "../engine/types.ts";
import { busFactor, type NamedCollective } from "../model/collective/collective.ts";
import { toNumber } from "../model/numbers/rational.ts";
import { toUs } from "../model/numbers/units.ts";
import { longestShortestPs } from "../model/routes/list-routes.ts";
import { networkSymmetry } from "../model/symmetry/network-symmetry.ts";
import type { Topology } from "../model/topology/topology.ts";
import type { CoarseRow } from "../report/comparison.ts";
import { bandwidth, type LeftOut } from "../report/result.ts";
import type { SynthesizeOptions } from "../request/options.ts";
import { mcf } from "../synthesize/alltoall/alltoall.ts";
import { refusalOf } from "../synthesize/applicable.ts";
import { coarseTime, hasCoarseTime } from "../synthesize/baselines/coarse.ts";
import { ALGORITHMS, algorithmNamed } from "../synthesize/catalog.ts";
import { allToAllOn } from "./all-to-all.ts";
import { wholeProblem } from "./auto/candidates.ts";

/** Lines of algorithms that have too many transfers to list: by coarse models, without a schedule. */

type Asked = Omit<SynthesizeOptions, "algorithm"> & { readonly sizeBytes: number };

export interface CoarseLines {
  /** Algorithms that have one, in the catalogue's order. */
  readonly names: readonly string[];
  /** Resolves to the line of one of them at a size. */
  line(name: string, sizeBytes: number, signal?: AbortSignal): Promise<Omit<CoarseRow, "ofLimit">>;
}

/**
 * Returns the coarse lines of a request: of the algorithms that were `leftOut` although they apply. Baselines by their rounds and
 * trees (coarseTime), an all-to-all along a flow by that, where one NPU stands for all.
 */
export function coarseLines(
  engine: Engine,
  topology: Topology,
  options: Asked,
  leftOut: readonly LeftOut[],
  isLibrary: (algorithm: string) => boolean,
): CoarseLines {
  const problem = wholeProblem(topology, options);
  const { collective } = problem;
  const hasFlow = collective.kind === "alltoall" && collective.groupSize === topology.npuCount;
  const flows = (name: string): boolean => name === mcf.name && hasFlow && networkSymmetry(problem.topology) !== null;
  const left = new Set(leftOut.map(({ algorithm }) => algorithm));
  const names = ALGORITHMS.filter(
    (one) =>
      left.has(one.name) &&
      (hasCoarseTime(one.name, collective) || flows(one.name)) &&
      refusalOf(one, problem.topology, collective) === null,
  ).map(({ name }) => name);
  // what is gained over libraries is told where all of theirs are there
  const isWhole = ![...left].some(
    (name) =>
      isLibrary(name) &&
      !names.includes(name) &&
      refusalOf(algorithmNamed(name), problem.topology, collective) === null,
  );
  let known: Promise<{ readonly bytesPerSecond: number; readonly latencyUs: number }> | null = null;
  const flow = (signal?: AbortSignal) => {
    known ??= allToAllOn(engine, problem.topology, signal === undefined ? {} : { signal }).then(({ rate }) => ({
      bytesPerSecond: toNumber(rate),
      latencyUs: toUs(longestShortestPs(problem.topology, collective.groupMembers)),
    }));
    return known;
  };
  return {
    names,
    async line(name, sizeBytes, signal) {
      const sized = wholeProblem(topology, { ...options, sizeBytes });
      const told = async (): Promise<{ us: number; policy: string; by: string }> => {
        if (name !== mcf.name) {
          const { ps, policy, by } = coarseTime(name, sized.topology, sized.collective);
          return { us: toUs(Math.round(ps)), policy, by };
        }
        const { bytesPerSecond, latencyUs } = await flow(signal);
        const us = (toNumber(sized.collective.chunkBytes) / bytesPerSecond) * 1e6 + latencyUs;
        return { us, policy: "along a flow", by: "the rate of the flow and the longest of the shortest ways" };
      };
      const { us, policy, by } = await told();
      const algbwGBps = bandwidth(sizeBytes, us);
      return {
        sizeBytes,
        algorithm: name,
        us,
        algbwGBps,
        busbwGBps:
          algbwGBps === null
            ? null
            : algbwGBps * busFactor(sized.collective.kind as NamedCollective, sized.collective.groupSize),
        policy,
        by,
        ...(isWhole && isLibrary(name) ? { library: policy } : {}),
      };
    },
  };
}
