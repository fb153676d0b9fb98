import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Options } from "../../../src/request/option-table.ts";
import { commandsHere } from "../../support/cli-here.ts";
import { missing, refused } from "../../support/refusals.ts";
import { ask, fileOf, wishOf } from "../../support/worker-asks.ts";

const { at, put, run } = commandsHere();

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const bytesOf = async (content: Blob): Promise<Uint8Array> => new Uint8Array(await content.arrayBuffer());

/** Words in which a schedule is asked for, as the page and as the command line have them. */
const CASES: readonly (readonly [topology: string, options: Options, network: Options])[] = [
  ["mesh:4x4", { collective: "allgather" }, {}],
  ["mesh:3x3", { collective: "allreduce", size: "9MiB", algorithm: "tacos", seed: "7", chunks: "2" }, {}],
  ["torus:4x4", { collective: "reducescatter", size: "1MiB", trials: "3" }, {}],
  ["dgx-a100:2", { collective: "allgather", algorithm: "forestcoll", size: "64MiB" }, {}],
  ["dgx-a100:2", { collective: "allreduce", algorithm: "forestcoll", k: "1" }, {}],
  ["torus:4x4", { collective: "allreduce", algorithm: "themis", size: "64MiB" }, {}],
  ["torus:40x40", { collective: "allreduce", algorithm: "themis", size: "64MiB", chunks: "8" }, {}],
  ["circulant:12,2,3", { collective: "allgather", algorithm: "bfb", size: "3MiB" }, {}],
  ["mesh:2x2", { collective: "allgather", algorithm: "taccl", size: "1MiB", timeLimit: "20s" }, {}],
  ["mesh:2x2", { collective: "allgather", algorithm: "auto", size: "1MiB", timeLimit: "100s" }, {}],
  ["ring:8", { collective: "broadcast", root: "3", size: "8MiB", chunks: "4" }, {}],
  ["mesh:3x3", { collective: "allgather", size: "1MiB", group: "0,1,2,5", outsiders: "none" }, {}],
  ["mesh:4x4", { collective: "allgather", size: "16MiB" }, { without: "5,0-1", degrade: "2-3=0.5" }],
];

describe("file: the bytes of the command line", () => {
  it.each(CASES)("%s %o %o", async (topology, options, network) => {
    const { ref, command } = await ask("make", { wish: wishOf(topology, options, network) });
    const { file, sha256: told } = await ask("file", { schedule: ref });
    const words = command.split(" ");
    expect(words.slice(0, 2)).toEqual(["banyan", "synth"]);
    expect(words.at(-1)).toBe(file.name);
    await run([...words.slice(1), "--quiet"].join(" ").replaceAll("'", ""));
    const theirs = readFileSync(at(file.name));
    expect(told).toBe(sha256(theirs));
    expect(sha256(await bytesOf(file.content))).toBe(told);
  });

  it("of a worker that has to make it again is the same", async () => {
    const { ref } = await ask("make", { wish: wishOf("mesh:3x3", { collective: "allgather", size: "9MiB" }) });
    const first = await ask("file", { schedule: ref });
    const again = await ask("file", { schedule: { ...ref, id: "of a worker that is gone" } });
    expect(again.sha256).toBe(first.sha256);
  });

  it("of a worker that finds another one, as a limit on time decided, is none", async () => {
    const { ref } = await ask("make", { wish: wishOf("mesh:3x3", { collective: "allgather", size: "9MiB" }) });
    expect(ref.us).toBeNull();
    const other = { ...ref, id: "of another worker", us: 1 };
    await expect(ask("file", { schedule: other })).rejects.toThrow(missing("the schedule"));
  });

  it("of one that was opened is itself", async () => {
    const { ref } = await ask("make", { wish: wishOf("mesh:3x3", { collective: "allgather", size: "9MiB" }) });
    const { file, sha256: told } = await ask("file", { schedule: ref });
    const opened = await ask("open", { file, options: {} });
    if (opened.kind !== "schedule") throw new Error(opened.kind);
    expect((await ask("file", { schedule: opened.schedule.ref })).sha256).toBe(told);
  });
});

describe("export: the bytes of the command line", () => {
  it.each(["json", "bys", "steps", "perfetto", "svg", "dot", "msccl-xml", "mscclpp-json", "jax"])(
    "a schedule as %s",
    async (to) => {
      const { ref } = await ask("make", { wish: wishOf("ring:4", { collective: "allgather", size: "4MiB" }) });
      const { file: schedule } = await ask("file", { schedule: ref });
      put("ring.json", await schedule.content.text());
      const opened = await ask("open", { file: { ...schedule, name: "ring.json" }, options: {} });
      if (opened.kind !== "schedule") throw new Error(opened.kind);
      const subject = { kind: "schedule", schedule: opened.schedule.ref } as const;
      const { file } = await ask("export", { subject, to, options: {} });
      await run(`export ring.json --to ${to} -o out.${to} --quiet`);
      expect(sha256(await bytesOf(file.content))).toBe(sha256(readFileSync(at(`out.${to}`))));
      expect(file.name.length).toBeGreaterThan(4);
    },
  );

  it("a network, a program, and several files as an archive", async () => {
    const network = { kind: "network", wish: wishOf("ring:4", {}).network } as const;
    const json = await ask("export", { subject: network, to: "json", options: {} });
    await run("export ring:4 --to json -o ring-topology.json --quiet");
    expect(await json.file.content.text()).toBe(readFileSync(at("ring-topology.json"), "utf8"));
    const options = { collective: "allgather", size: "1MiB" };
    const { file: xml } = await ask("export", { subject: network, to: "msccl-xml", options });
    const program = fileOf("p.xml", await xml.content.text());
    const azure = await ask("export", {
      subject: { kind: "program", file: program },
      to: "msccl-xml",
      options: { maxBytes: "1MiB" },
    });
    expect(await azure.file.content.text()).toContain("<algo");
    const astra = await ask("export", { subject: network, to: "astra-sim", options });
    expect(astra.file.name).toMatch(/\.zip$/);
    const head = (await bytesOf(astra.file.content)).subarray(0, 4);
    expect([...head]).toEqual([0x50, 0x4b, 3, 4]);
  });

  it("says what a format is for", async () => {
    const { exports } = await ask("welcome", {});
    expect(exports.find(({ name }) => name === "msccl-xml")?.of).toEqual(["schedule", "program"]);
    expect(exports.find(({ name }) => name === "astra-sim")?.folder).toBe(true);
    const network = { kind: "network", wish: wishOf("ring:4", {}).network } as const;
    await expect(ask("export", { subject: network, to: "jsn", options: {} })).rejects.toThrow(
      refused("unknown-name", "to", "jsn", "json"),
    );
  });
});
