import type { PeriodSchedule } from "../../src/model/periods/period-schedule.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { wholeCollective } from "./synthesis.ts";

/** Returns an all-reduce of three chunks, 100 ns each, on a chain of three NPUs: by two trees, of roots 1 and 0, in two rounds. */
export function plainPeriods(): PeriodSchedule {
  const builder = topologyBuilder("chain");
  for (const name of ["0", "1", "2"]) builder.addNpu(name);
  for (const npu of [0, 1]) builder.addDuplex(npu, npu + 1, 50e9, 20_000);
  const topology = builder.build();
  return {
    kind: "periods",
    topology,
    collective: wholeCollective(topology, "allreduce", 15_000),
    routes: routesOf(topology, 1),
    there: Int32Array.of(0, 2),
    back: Int32Array.of(1, 3),
    entry: Int32Array.of(0, -1, 1, -1, 0, 1),
    startPs: Float64Array.of(...[0, -1, 0, 120_000, -1, 120_000], ...[-1, 220_000, 100_000, -1, 340_000, 460_000]),
    periodPs: 240_000,
  };
}
