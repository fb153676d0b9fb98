import { InputError } from "../base/errors.ts";
import type { SweepEngine } from "./engine.ts";

/** What a sweep is handed over with to whoever does its tasks elsewhere. */
export interface RemoteEngineOptions {
  /** Its name, the same whenever it is gone on with, and that of no other sweep at the same place. */
  readonly sweep: string;
  readonly version: string;
  /** The kernels that are to do its tasks; null: any. */
  readonly backend: string | null;
  /** Among sweeps of one server those of a greater one go first, -1000 to 1000. */
  readonly priority: number;
  /** The sweep's folder. */
  readonly folder: string;
  /** Where its inputs are and its schedules go, as those reach it who do its tasks. */
  readonly store: string;
  /** How banyan is called on the machines of a cluster. */
  readonly command: readonly string[];
  readonly signal: AbortSignal;
  note(line: string): void;
}

/** Opens an engine by what --engine says: redis://... or slurm[?shares=N&...]. Rejects with InputError for anything else. */
export async function openRemoteEngine(engine: string, options: RemoteEngineOptions): Promise<SweepEngine> {
  if (/^rediss?:\/\//i.test(engine)) {
    const { openRedisEngine } = await import("./redis/engine.ts");
    return await openRedisEngine(engine, options);
  }
  if (/^slurm(?:\?|$)/.test(engine)) {
    const { openSlurmEngine, readSlurm } = await import("./slurm/engine.ts");
    return await openSlurmEngine({ ...options, ...readSlurm(engine) });
  }
  throw new InputError("--engine", "local, redis://HOST:PORT, rediss://HOST:PORT, or slurm?shares=N", engine).as(
    "unknown-name",
  );
}
