import { openHighs } from "../engine/milp/highs.ts";
import type { Engine } from "../engine/types.ts";
import type { ClassLimit } from "../model/bounds/class-limit.ts";
import type { Collective } from "../model/collective/collective.ts";
import { isActive, linkCount, type Topology } from "../model/topology/topology.ts";
import { boundOfCertificate } from "../report/trees-result.ts";
import { allReduceRates } from "../synthesize/forestcoll/allreduce-rates.ts";

/** Of larger problems (members by links) the linear program takes seconds. */
const MOST_LINKS_SEEN = 1e4;
const MOST_ORBITS = 200;

/**
 * Returns the limit of an all-reduce of one group for all that sum each byte at one NPU: the dual of its linear program (Zhao
 * 2026, B.7), exact. Null for others, where switches copy or sum, and where it is not cheap. Throws InfeasibleError.
 */
export async function sumsLimit(
  { kernels }: Engine,
  topology: Topology,
  collective: Collective,
): Promise<ClassLimit | null> {
  const { kind, groupCount, groupSize, groupMembers, sizeBytes } = collective;
  if (kind !== "allreduce" || groupCount !== 1 || groupSize < 2 || sizeBytes === 0) return null;
  if (groupSize * linkCount(topology) > MOST_LINKS_SEEN) return null;
  if (topology.nodeTraits.some(isActive)) return null;
  const solvers = { rate: kernels.rate, lp: await openHighs() };
  const rates = await allReduceRates(topology, groupMembers, solvers, { orbits: MOST_ORBITS });
  if (rates === null || rates.certificate === null || rates.bound.num === 0n) return null;
  const certificate = { ...rates.certificate, kind: "dual" as const };
  return { ...boundOfCertificate({ topology, collective }, certificate, rates.bound), of: "sums at one NPU" };
}
