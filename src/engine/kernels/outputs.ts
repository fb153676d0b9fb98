import { deliveriesOf, type MatchProblem, type PlaceProblem, type Transfers } from "./kernels.ts";
import { STATUS, throwForStatus } from "./status.ts";

/** The caller's arrays of one kernel call, and where the kernel writes its summary: count, detail 0, detail 1. */
export interface Outputs extends Transfers {
  readonly summary: Float64Array;
}

/** Returns what `make` allocates; throws as for a kernel out of memory when there is no room for it. */
function allocated<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError) throwForStatus(STATUS.outOfMemory, 0, 0);
    throw error;
  }
}

/** Returns arrays for `room` transfers; throws as for a kernel out of memory when there is no room for them. */
export function allocateOutputs(room: number): Outputs {
  if (!Number.isSafeInteger(room) || room < 0) throwForStatus(STATUS.badArgument, 0, 0);
  return allocated(() => ({
    chunk: new Int32Array(room),
    route: new Int32Array(room),
    startPs: new Float64Array(room),
    summary: new Float64Array(3),
  }));
}

/** Returns the array for the starts of a place problem; throws as for a kernel out of memory. */
export const allocateStarts = (problem: PlaceProblem): Float64Array =>
  allocated(() => new Float64Array(problem.route.length));

/** Returns arrays for the deliveries of a match problem whose shapes have been checked. */
export function allocateDeliveries(problem: MatchProblem): Outputs {
  return allocateOutputs(deliveriesOf(problem));
}

/** Returns the transfers that a kernel wrote, or null when there was too little room; throws for a bad status. */
export function collect(status: number, outputs: Outputs): Transfers | null {
  const { chunk, route, startPs, summary } = outputs;
  const [count, npu, detail] = summary;
  throwForStatus(status, npu, detail);
  if (status === STATUS.outputTooSmall) return null;
  if (count === chunk.length) return { chunk, route, startPs };
  return { chunk: chunk.slice(0, count), route: route.slice(0, count), startPs: startPs.slice(0, count) };
}
