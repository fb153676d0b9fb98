/** Banyan for Node: native kernels, else WebAssembly, else JavaScript; a pool of worker threads. */
import { openEngine } from "./engine/engine.ts";
import { verbs } from "./run/verbs.ts";

export * from "./api.ts";
export { openEngine };
export const { synthesize, synthesizeJoint, compare, train, bound, allToAll, search } = verbs(openEngine);
