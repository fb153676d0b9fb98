import { startPackageWorker } from "../../src/engine/pool/web-worker.ts";
import { openEngine, synthesize } from "../../src/index.browser.ts";
import type { SynthesizeRequest } from "../../src/run/verbs.ts";
import { scheduleText } from "../support/schedule-text.ts";

/** A worker of pool-page.ts that has an engine of its own, whose threads are workers of this worker. */

let startedWorkers = 0;
const startWorker = (): Worker => {
  startedWorkers++;
  return startPackageWorker();
};

addEventListener("message", async ({ data }: MessageEvent<SynthesizeRequest>) => {
  const engine = await openEngine({ threads: 2, startWorker });
  const { schedule } = await synthesize({ ...data, engine });
  await engine.close();
  postMessage({ text: scheduleText(schedule), startedWorkers });
});
