// Schedules of about 1e5 and 1e6 transfers: copies on single links, reductions, and routes of two links through a switch.
const allgather = (topology) => ({ topology, collective: "allgather" });
const allreduce = (topology) => ({ topology, collective: "allreduce" });
const switched = (topology) => ({ topology, collective: "allgather", switchDegree: 1 });

export const CASES = [
  { name: "all-gather, mesh:18x18", runs: 15, request: allgather("mesh:18x18") },
  { name: "all-gather, mesh:32x32", runs: 5, request: allgather("mesh:32x32") },
  { name: "all-reduce, mesh:15x15", runs: 15, request: allreduce("mesh:15x15") },
  { name: "all-reduce, mesh:26x27", runs: 5, request: allreduce("mesh:26x27") },
  { name: "all-gather, switch:320", runs: 15, request: switched("switch:320") },
  { name: "all-gather, switch:1000", runs: 5, request: switched("switch:1000") },
];

export const SWITCHINGS = ["cut-through", "store-and-forward"];

/** What is asked of the simulator: the event queue on native kernels. */
export const TARGET = { verb: "simulate, store-and-forward", backend: "native", millionTransfersPerSecond: 5 };
