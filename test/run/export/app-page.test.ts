import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openEngine } from "../../../src/engine/engine.ts";
import { readTopology } from "../../../src/import/networks/network-formats.ts";
import { readAnySchedule } from "../../../src/import/schedules/schedule-json.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { exportInMemory } from "../../../src/run/export/in-memory.ts";
import type { ScheduleSubject, Subject } from "../../../src/run/export/subject.ts";
import { synthesize } from "../../../src/run/synthesize.ts";
import { commandsHere } from "../../support/cli-here.ts";
import { missing, unexpected } from "../../support/refusals.ts";

const EMPTY = '<script type="application/json" id="banyan-inside">null</script>';
const TEMPLATE = `<!doctype html><title>Banyan</title>${EMPTY}<script>run("$&$1</x>")</script>\n`;
const engine = await openEngine({ threads: 0 });
const { signal } = new AbortController();

/** Returns the page in which the template, or another, holds the subject. */
async function pageWith(subject: Subject, template = TEMPLATE): Promise<string> {
  const page = async (): Promise<string> => template;
  const { files } = await exportInMemory("html", subject, {}, { engine, signal, version: "1", page });
  return Buffer.concat((files[0] as (typeof files)[number]).parts).toString();
}

/** Returns what the page holds; fails unless all else is the template. */
function insideOf(page: string, template = TEMPLATE): { readonly [field: string]: string } {
  const [head, tail] = template.split(EMPTY) as [string, string];
  expect(page.startsWith(head)).toBe(true);
  expect(page.endsWith(tail)).toBe(true);
  const element = page.slice(head.length, page.length - tail.length);
  const [, json] = /^<script type="application\/json" id="banyan-inside">([^<]*)<\/script>$/.exec(element) as string[];
  return JSON.parse(json as string);
}

const made = async (
  network: string,
  algorithm: string,
  collective = "allgather",
  chunks = 1,
): Promise<ScheduleSubject> => {
  const request = { collective, algorithm, chunks } as Parameters<typeof synthesize>[2];
  return { kind: "schedule", ...(await synthesize(engine, presetTopology(network), request)) };
};

/** Returns what `--to json` writes. */
async function jsonOf(subject: Subject): Promise<string> {
  const { files } = await exportInMemory("json", subject, {}, { engine, signal, version: "1" });
  return Buffer.concat((files[0] as (typeof files)[number]).parts).toString();
}

describe("the app in one file", () => {
  it.each([
    ["ring:4", "ring"],
    ["dgx-a100:1", "forestcoll"],
  ])("holds the file of a schedule: %s by %s", async (network, algorithm) => {
    const subject = await made(network, algorithm);
    const { name, kind, text } = insideOf(await pageWith(subject));
    expect([name, kind]).toEqual([`allgather on ${network}`, "schedule"]);
    expect(text).toBe(await jsonOf(subject));
    expect(readAnySchedule(text as string, "inside").topology.name).toBe(network);
  });

  it("holds the file of a network, whatever its names are", async () => {
    const evil = '</script><!-- "\\ \u2028 \ud83d\ude00 -->';
    const topology = { ...presetTopology("ring:3"), name: evil };
    const { name, kind, text } = insideOf(await pageWith({ kind: "network", topology }));
    expect([name, kind]).toEqual([evil, "network"]);
    expect(readTopology(text as string, "inside").name).toBe(evil);
  });

  it("refuses a page that is not the app, and phases", async () => {
    const network: Subject = { kind: "network", topology: presetTopology("ring:3") };
    await expect(pageWith(network, "<!doctype html>")).rejects.toThrow(unexpected("the built app", 0));
    await expect(pageWith(network, TEMPLATE + EMPTY)).rejects.toThrow(unexpected("the built app", 2));
    const phases = await made("torus:16x16", "themis", "allreduce", 32);
    await expect(pageWith(phases)).rejects.toThrow(unexpected("--to html", "128 phases", "--to"));
    await expect(exportInMemory("html", network, {}, { engine, signal, version: "1" })).rejects.toThrow(
      missing("--to html"),
    );
  });

  it("refuses more than browsers open before anything is written", async () => {
    await expect(pageWith(await made("torus:60x60", "tacos"))).rejects.toThrow(
      unexpected("to", "html, about 435 MiB", 256),
    );
  });
});

const BUILT = new URL("../../../dist-web/banyan.html", import.meta.url);
const here = commandsHere();

describe("export --to html", () => {
  it.skipIf(!existsSync(BUILT))("writes the built app with a schedule inside (npm run build:web)", async () => {
    await here.run("synth ring:4 --collective allgather --algorithm ring --quiet -o ring.json");
    await here.run("export ring.json --to html --quiet -o ring.html");
    await here.run("export ring.json --to json --quiet -o same.json");
    const { kind, text } = insideOf(readFileSync(here.at("ring.html"), "utf8"), readFileSync(BUILT, "utf8"));
    expect(kind).toBe("schedule");
    expect(text).toBe(readFileSync(here.at("same.json"), "utf8"));
  });

  it.skipIf(existsSync(BUILT))("says how the app is built where it is not, before long work", async () => {
    await here.refuses("export mesh:500x500 --collective allgather --to html -o x.html", missing("--to html", "--to"));
  });
});
