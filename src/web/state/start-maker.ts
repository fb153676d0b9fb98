/** Returns the worker that makes everything. The page in one file has another way (start-maker.inline.ts). */
export const startMaker = async (): Promise<Worker> =>
  new Worker(new URL("../worker/main.ts", import.meta.url), { type: "module", name: "banyan" });
