import { readFileSync } from "node:fs";
import { readAtlasIndex } from "../../../src/import/atlas/atlas-json.ts";
import { planSweep } from "../../../src/request/sweep/plan.ts";
import { readSweepFile } from "../../../src/request/sweep/sweep-file.ts";
import { readRedisAddress } from "../../../src/sweep/redis/address.ts";
import { readSlurm } from "../../../src/sweep/slurm/engine.ts";
import { type FuzzTarget, LawBroken } from "./target.ts";

/** More points than these are counted and not enumerated. */
const MOST_POINTS = 200;
const EXAMPLE = new URL("../../../examples/failures.yaml", import.meta.url);
const INDEX = new URL("../../fixtures/atlas-index.json", import.meta.url);

function checkSweep(text: string): void {
  const plan = planSweep(readSweepFile(text, "s.yaml"), "s.yaml", () => null);
  if (plan.points > MOST_POINTS) return;
  let points = 0;
  for (const { task, cells } of plan.tasks()) {
    points += Number(cells["count"] ?? 1);
    for (const value of Object.values(task.options))
      if (value !== true && typeof value !== "string") throw new LawBroken("an option is no text");
  }
  if (points !== plan.points) throw new LawBroken("points are lost");
}

/** Returns the targets of sweeps and atlases. */
export const sweepTargets = (): FuzzTarget[] => [
  {
    name: "sweep-file",
    seeds: () => [
      readFileSync(EXAMPLE, "utf8"),
      "do: search\naxes:\n  - {nodes: {from: 16, to: 64, step: 16}, degree: [2, 4]}\n  - {nodes: 8, degree: 2, bidirectional: true}\nprices: {npu: 1, cable: 0.5}\n",
      "axes:\n  zip: {topology: [ring:4, mesh:2x2], algorithm: [ring, tacos]}\n  collective: allreduce\n  size: {from: 1KiB, to: 1MiB, times: 32}\n  failures: [none, 0-1+1-2, {random: 2, of: links, times: 3, seed: 9}]\nbudget: {time: 5s, memory: 1GiB}\npriority: -3\nkeep: schedules\n",
    ],
    check: checkSweep,
  },
  {
    name: "sweep-engine",
    seeds: () => ["redis://user:pass@host:6379/2?prefix=p&patience=5", "slurm?shares=100&partition=short&time=1:00:00"],
    check: (text) => {
      if (text.startsWith("slurm")) readSlurm(text);
      else readRedisAddress(text, {});
    },
  },
  {
    name: "atlas-index",
    seeds: () => [readFileSync(INDEX, "utf8")],
    check: (text) => void readAtlasIndex(text, "index.json"),
  },
];
