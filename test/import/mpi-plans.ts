import { mpiPlanParts } from "../../src/export/programs/mpi-plan.ts";
import { lowerToMpi } from "../../src/lower/mpi/lower.ts";
import { planChecksum } from "../../src/model/program/plan-checksum.ts";
import { ringSchedule } from "../support/ring-schedule.ts";

/** Returns a plan's text with its last line, the checksum. */
export function sealed(lines: readonly string[]): string {
  const body = `${lines.join("\n")}\n`;
  const checksum = planChecksum();
  checksum.add(body);
  return `${body}end ${checksum.digits()}\n`;
}

/** An all-reduce of two processes: each sends the other what it has, and adds what comes. With all that headers can say. */
export const SWAP = [
  "banyan-mpi-plan 1",
  "name swap of two",
  "collective allreduce",
  "ranks 2",
  "bytes 1024 65536",
  "chunks 2",
  "group 3 1",
  "host 3 node0 1",
  "host 1 node0 0",
  "ops sum max",
  "lanes 2",
  "segment 4096",
  "rank 0",
  "scratch 2",
  "to 1 0",
  "s 0 2 i 0",
  "from 1 0",
  "r 0 2 s 0",
  "local",
  "cpy 0 2 i 0 o 0",
  "re 0 2 s 0 o 0 @0:0 @1:0 @2:0",
  "rank 1",
  "scratch 0",
  "to 0 0",
  "s 0 2 i 0",
  "from 0 0",
  "rrc 0 2 i 0 o 0 @0:0",
];

/** Good plans for MPI. */
export const OWN_MPI_PLANS: Readonly<Record<string, () => string>> = {
  ring: () => [...mpiPlanParts(lowerToMpi(ringSchedule()))].join(""),
  swap: () => sealed(SWAP),
};
