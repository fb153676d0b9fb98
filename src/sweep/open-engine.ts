import { resolve } from "node:path";
import { InputError } from "../base/errors.ts";
import type { SweepEngine } from "./engine.ts";
import type { Executors } from "./executors.ts";
import { localEngine } from "./local-engine.ts";
import { isRedis } from "./redis/address.ts";
import { isS3 } from "./stores/s3-address.ts";

/** What engines are opened with. */
export interface EngineRequest {
  /** "local", redis://HOST, or slurm with its options. */
  readonly engine: string;
  readonly sweep: string;
  readonly version: string;
  readonly backend: string | null;
  readonly priority: number;
  readonly store: string;
  readonly folder: string;
  /** How banyan is called on another machine. */
  readonly command: readonly string[];
  /** Starts processes on this machine. */
  readonly executors: () => Promise<Executors>;
  readonly signal: AbortSignal;
  note(line: string): void;
}

/** Returns whether an engine does its tasks elsewhere, and goes on when this process ends. */
export const isElsewhere = (engine: string): boolean => engine !== "local";

/** Returns an address of a store that means the same in another folder. */
export const storeElsewhere = (store: string): string => (isS3(store) ? store : resolve(store));

/** Opens the engine of a name. Rejects with InputError where there is none, or it cannot be used. */
export async function openSweepEngine({ engine, executors, ...request }: EngineRequest): Promise<SweepEngine> {
  if (engine === "local") return localEngine(await executors());
  const elsewhere = { ...request, store: storeElsewhere(request.store) };
  if (isRedis(engine)) return await (await import("./redis/engine.ts")).openRedisEngine(engine, elsewhere);
  if (/^slurm(\?|$)/.test(engine)) {
    const { openSlurmEngine, readSlurm } = await import("./slurm/engine.ts");
    return await openSlurmEngine({ ...elsewhere, ...readSlurm(engine) });
  }
  throw new InputError("--engine", "local, redis://HOST:PORT or slurm", engine).as("unknown-name");
}
