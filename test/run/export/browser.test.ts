import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEngine } from "../../../src/engine/engine.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { exportInMemory } from "../../../src/run/export/in-memory.ts";
import type { Subject } from "../../../src/run/export/subject.ts";
import { synthesize } from "../../../src/run/synthesize.ts";
import { bundle, chromiumPath, launchChromium, serve } from "../../support/chromium.ts";
import { exportedHere } from "./page.ts";

const why = chromiumPath === undefined ? "no Chromium on PATH" : "";
/** Nothing is made of text while the page runs. */
const STRICT = { "content-security-policy": "default-src 'self'; img-src data:" };
const engine = await openEngine({ threads: 0 });

/** Returns the text of a subject in a format. */
async function textOf(subject: Subject, format: string): Promise<string> {
  const { signal } = new AbortController();
  const { files } = await exportInMemory(format, subject, {}, { engine, signal, version: "1" });
  return Buffer.concat(files.flatMap(({ parts }) => parts)).toString();
}

const made = async (network: string, request: object): Promise<Subject> => ({
  kind: "schedule",
  ...(await synthesize(engine, presetTopology(network), request as Parameters<typeof synthesize>[2])),
});

describe.runIf(why === "")(`formats in Chromium${why && ` (skipped: ${why})`}`, () => {
  let browser: Browser;
  let server: Awaited<ReturnType<typeof serve>>;

  beforeAll(async () => {
    server = await serve(await bundle(fileURLToPath(new URL("page.ts", import.meta.url))), { headers: STRICT });
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  it.each([
    ["steps", "schedule", "json", () => made("ring:5", { collective: "allreduce", algorithm: "ring" })],
    ["trees", "schedule", "json", () => made("dgx-a100:1", { collective: "allgather", algorithm: "forestcoll" })],
    ["a program", "program", "msccl-xml", () => made("ring:3", { collective: "allgather", algorithm: "ring" })],
    ["a network", "network", "json", async () => ({ kind: "network", topology: presetTopology("dgx-a100:2") })],
  ] as const)("are the same bytes as here: %s", async (_, kind, format, subject) => {
    const given = { kind, text: await textOf((await subject()) as Subject, format) };
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (line) => errors.push(line.text()));
    await page.goto(server.url);
    await page.waitForFunction("globalThis.exportedHere !== undefined", undefined, { timeout: 30_000 });
    const there = await page.evaluate(`exportedHere(${JSON.stringify(given)})`);
    expect(there).toEqual(await exportedHere(given));
    expect(errors).toEqual([]);
    await page.close();
  });
});
