import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { divide, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import { PS_PER_SECOND } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { provenRate } from "./flow-certificate.ts";

/**
 * Returns the least time, in picoseconds, that lengths of links [links] prove of a collective whose chunks each go from one NPU
 * to one: provenRate with the demand counted chunk by chunk. Null where they prove nothing. O(chunks), NPUs squared, and a search
 * for each NPU.
 */
export function provenLimitPs(topology: Topology, collective: Collective, lengths: Int32Array): Rational | null {
  const { npuCount } = topology;
  const { chunkCount, chunkBytes, pre, post } = collective;
  const demand = new Float64Array(npuCount * npuCount);
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    demand[membersOf(collective, pre, chunk)[0] * npuCount + membersOf(collective, post, chunk)[0]]++;
  }
  for (let npu = 0; npu < npuCount; npu++) demand[npu * npuCount + npu] = 0;
  const perSecond = provenRate(topology, demand, lengths);
  return perSecond === null ? null : divide(multiply(chunkBytes, rational(PS_PER_SECOND)), perSecond);
}
