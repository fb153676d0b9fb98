/** Banyan for a browser page or worker: WebAssembly kernels, else JavaScript; nothing leaves the page. */
import { openEngine } from "./engine/engine.browser.ts";
import { verbs } from "./run/verbs.ts";

export * from "./api.ts";
export { openEngine };
export const { synthesize, synthesizeJoint, compare, train, bound, allToAll, search } = verbs(openEngine);
