import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { synthesize } from "../../src/index.ts";
import type { SynthesizeRequest } from "../../src/run/verbs.ts";
import { bundle, chromiumPath, ISOLATING, launchChromium, serve } from "../support/chromium.ts";
import { scheduleText } from "../support/schedule-text.ts";

const missing = [
  [chromiumPath !== undefined, "no Chromium on PATH"],
  [existsSync(new URL("../../wasm/build/banyan.wasm", import.meta.url)), "no WebAssembly module"],
] as const;
const why = missing.flatMap(([ready, reason]) => (ready ? [] : [reason])).join(", ");

vi.setConfig({ testTimeout: 90_000 });

/** Large enough for threads, but the last, which is solved on one. */
const REQUESTS: readonly SynthesizeRequest[] = [
  {
    topology: "torus:15x15",
    collective: "allgather",
    sizeBytes: 2 ** 28,
    chunks: 4,
    trials: 3,
    algorithm: "tacos",
    policy: "oldest",
  },
  { topology: "dgx-a100:4", collective: "allgather", sizeBytes: 2 ** 30, algorithm: "forestcoll" },
  { topology: "torus:4x4", collective: "allreduce", sizeBytes: 2 ** 28, algorithm: "themis" },
  { topology: "mesh:3x3", collective: "allreduce", sizeBytes: 2 ** 20, algorithm: "tacos-ilp", timeLimitMs: 20_000 },
];
const LONG: SynthesizeRequest = {
  topology: "torus:15x15",
  collective: "allgather",
  sizeBytes: 2 ** 28,
  chunks: 4,
  trials: 10_000,
  algorithm: "tacos",
  policy: "oldest",
};

/** What the page gives back. */
interface Made {
  readonly hash: string;
  readonly verified: boolean;
  readonly threads: number;
  readonly startedWorkers: number;
}

describe.runIf(why === "")(`Web Workers${why && ` (skipped: ${why})`}`, () => {
  let browser: Browser;
  let isolated: { url: string; close: () => void };
  let plain: { url: string; close: () => void };
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    const files = await bundle(fileURLToPath(new URL("pool-page.ts", import.meta.url)));
    isolated = await serve(files, { headers: ISOLATING });
    plain = await serve(files);
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    isolated?.close();
    plain?.close();
  });

  afterEach(async () => {
    await expect.poll(() => page.workers().length, { timeout: 30_000 }).toBe(0);
    await page.close();
  });

  async function open({ url }: { url: string }): Promise<void> {
    page = await browser.newPage();
    complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => complaints.push(message.text()));
    await page.goto(url);
    await page.waitForFunction("globalThis.synthesizeHere !== undefined", undefined, { timeout: 30_000 });
  }
  const call = <T>(name: string, ...args: unknown[]): Promise<T> =>
    page.evaluate(`${name}(${args.map((arg) => JSON.stringify(arg)).join()})`);

  it.each(REQUESTS)(
    "give the bytes of this process: $algorithm, $collective on $topology",
    async (request) => {
      const { schedule } = await synthesize(request);
      const hash = createHash("sha256").update(scheduleText(schedule)).digest("hex");
      await open(isolated);
      for (const options of [{ threads: 2 }, { threads: 2, backend: "js" }, { threads: 0 }, {}]) {
        const made = await call<Made>("synthesizeHere", request, options);
        expect([options, made]).toMatchObject([options, { hash, verified: true }]);
      }
      expect(complaints).toEqual([]);
    },
    120_000,
  );

  it("are as many as asked for, and no more than there is work for", async () => {
    const [tacos, , phases] = REQUESTS;
    await open(isolated);
    expect(await call<Made>("synthesizeHere", tacos, { threads: 2 })).toMatchObject({ threads: 2, startedWorkers: 2 });
    expect(await call<Made>("synthesizeHere", tacos, { threads: 1 })).toMatchObject({ threads: 1, startedWorkers: 1 });
    expect(await call<Made>("synthesizeHere", tacos, { threads: 0 })).toMatchObject({ threads: 1, startedWorkers: 0 });
    expect(await call<Made>("synthesizeHere", phases, { threads: 2 })).toMatchObject({ startedWorkers: 0 });
  });

  it("serve an engine inside a worker as well", async () => {
    const [request] = REQUESTS;
    await open(isolated);
    const { hash } = await call<Made>("synthesizeHere", request, { threads: 0 });
    expect(await call("synthesizeInWorker", request)).toEqual({ hash, startedWorkers: 2 });
    expect(complaints).toEqual([]);
  });

  it("are not started where the page cannot share memory, and the bytes are the same", async () => {
    const [request] = REQUESTS;
    await open(isolated);
    const { hash } = await call<Made>("synthesizeHere", request, { threads: 2 });
    await page.close();
    await open(plain);
    const made = await call<Made>("synthesizeHere", request, { threads: 2 });
    expect(made).toEqual({ hash, verified: true, threads: 1, startedWorkers: 0 });
    expect(complaints).toEqual([]);
  });

  it("stop when the signal aborts, and work on afterwards", async () => {
    await open(isolated);
    const { ended, again } = await call<{ ended: string; again: number }>("cancelled", LONG, 1500);
    expect(ended).toMatch(/^CancelledError/);
    expect(again).toBe(30 * 60 - 60);
  });

  it("tell of a thread that dies, and another takes its place", async () => {
    await open(isolated);
    const { first, second, startedWorkers } = await call<{ first: string; second: number; startedWorkers: number }>(
      "firstWorkerDies",
    );
    expect(first).toMatch(/ended in the middle of its work.*no more/);
    expect([second, startedWorkers]).toEqual([30 * 60 - 60, 2]);
    expect(complaints).toEqual([]);
  });

  it("leave the best that is known where solving threads die", async () => {
    await open(isolated);
    expect(await call("solvingWorkersDie", REQUESTS.at(-1))).toBe(true);
  });

  it("are done without where none starts", async () => {
    await open(isolated);
    expect(await call("workersThatDoNotStart")).toEqual(Array(4).fill(30 * 60 - 60));
  });

  it("end when the engine is closed, with what they did", async () => {
    await open(isolated);
    const ended = await call<string[]>("closedAtWork");
    expect(ended).toEqual([expect.stringMatching(/^CancelledError/), expect.stringMatching(/^CancelledError/)]);
  });

  it("belong to one engine each", async () => {
    await open(isolated);
    const [one, other] = await call<string[]>("twoEngines", REQUESTS[0]);
    expect(one).toBe(other);
  });
});
