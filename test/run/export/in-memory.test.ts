import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CancelledError, InputError } from "../../../src/base/errors.ts";
import { version } from "../../../src/cli/version.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import { phasesToJson } from "../../../src/export/schedules/phases-json.ts";
import { readProgram } from "../../../src/import/programs/program.ts";
import { bytesSource, readBys } from "../../../src/import/schedules/bys.ts";
import { readAnySchedule } from "../../../src/import/schedules/schedule-json.ts";
import { algorithmTold } from "../../../src/import/text/made-by.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { AnySchedule } from "../../../src/model/steps/schedule.ts";
import type { Progress } from "../../../src/request/progress.ts";
import { EXPORTERS, exporterNamed } from "../../../src/run/export/exporters.ts";
import { fileNameOf } from "../../../src/run/export/file-name.ts";
import { exportInMemory, type InMemoryOptions, type MadeFile } from "../../../src/run/export/in-memory.ts";
import type { Subject } from "../../../src/run/export/subject.ts";
import { algorithmOfFile } from "../../../src/run/report-file.ts";
import { commandsHere } from "../../support/cli-here.ts";
import { mpiEngine } from "../../support/mpi-engine.ts";
import { PHASE_NETWORKS, type PhaseNetwork } from "../../support/phase-cases.ts";
import { builtPhases, plannedPhases } from "../../support/phase-schedules.ts";
import { refused, unexpected } from "../../support/refusals.ts";

const here = commandsHere();
const engine = await openEngine({ threads: 0 });
const lent: InMemoryOptions = { engine, signal: new AbortController().signal, version, mpiEngine };
/** Every format but the one that needs the built app. */
const FORMATS = EXPORTERS.map(({ name }) => name).filter((name) => name !== "html");

const bytesOf = (name: string): Uint8Array => readFileSync(here.at(name));
const schedule = (name: string): Subject => ({
  kind: "schedule",
  schedule: name.endsWith(".bys")
    ? readBys(bytesSource(bytesOf(name)), name)
    : (readAnySchedule(readFileSync(here.at(name), "utf8"), name) as AnySchedule),
  report: null,
  algorithm: algorithmOfFile(algorithmTold(bytesSource(bytesOf(name)))),
});
const program = (name: string): Subject => ({
  kind: "program",
  name,
  program: readProgram(readFileSync(here.at(name), "utf8"), name),
});

/** The phases of two chunks on two boxes of 8, which the command line would write as steps. */
const PHASES = phasesToJson(
  builtPhases(
    plannedPhases({
      ...(PHASE_NETWORKS["one switch for all"] as PhaseNetwork),
      kind: "allreduce",
      sizeBytes: 2 ** 20,
      orders: [
        [0, 1],
        [1, 0],
      ],
    }),
  ),
);

/** What there is to export: the command that makes the file, and what a page reads from it. */
const SUBJECTS: readonly (readonly [file: string, make: string | null, read: (name: string) => Subject])[] = [
  ["steps.json", "synth mesh:3x3 --collective reducescatter --trials 2", schedule],
  ["steps.bys", "synth dgx-a100:1 --collective alltoall --trials 1", schedule],
  ["trees.json", "synth dgx-a100:1 --collective allgather --algorithm forestcoll --size 1MiB", schedule],
  ["phases.json", null, schedule],
  ["program.xml", "export ring:3 --collective allreduce --algorithm ring --to msccl-xml", program],
  ["plan.json", "export dgx-h100:1 --collective allgather --algorithm direct --to mscclpp-json", program],
];

/** Returns the files as the command line writes them: alone, or in a folder. */
function written(path: string, { folder }: { readonly folder?: true }): readonly (readonly [string, Buffer])[] {
  const names = folder === true ? readdirSync(here.at(path)).map((name) => `${path}/${name}`) : [path];
  return names.sort().map((name) => [name, readFileSync(here.at(name))] as const);
}

const inMemory = (files: readonly MadeFile[]): readonly (readonly [string, Buffer])[] =>
  files.map(({ path, parts }) => [path, Buffer.concat(parts)] as const).sort(([a], [b]) => (a < b ? -1 : 1));

/** Fails unless a format is made in memory as by the command line, or refused with the same sentence. Returns which. */
async function agree(argument: string, subject: Subject, name: string, path: string): Promise<"made" | "refused"> {
  const line = `export ${argument} --to ${name} -o ${path}`;
  let made: Awaited<ReturnType<typeof exportInMemory>>;
  try {
    made = await exportInMemory(name, subject, {}, { ...lent, path });
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    expect((await here.ends(line)).failure).toMatchObject({ code: 2, message: (error as Error).message });
    return "refused";
  }
  const told = await here.json(line);
  const files = written(path, exporterNamed(name));
  expect(inMemory(made.files)).toEqual(files);
  expect(made.bytes).toBe(files.reduce((sum, [, bytes]) => sum + bytes.length, 0));
  expect(told).toMatchObject({ bytes: made.bytes, notes: made.notes, ...made.facts });
  return "made";
}

/** Formats that were made, of whatever. */
const made = new Set<string>();

/** Fails unless every format agrees on a subject. */
async function agreeOnAll(argument: string, subject: Subject): Promise<void> {
  const file = argument.replace(":", "-");
  for (const name of FORMATS) if ((await agree(argument, subject, name, `${file}.${name}`)) === "made") made.add(name);
}

describe("what is made in memory", () => {
  it.each(SUBJECTS)("has the bytes of the command line's files in every format: %s", async (file, make, read) => {
    if (make === null) here.put(file, PHASES);
    else await here.run(`${make} --quiet -o ${file}`);
    await agreeOnAll(file, read(file));
  });

  it.each(["dgx-a100:2", "ring:4"])("has the bytes of the command line's files of a network: %s", (network) =>
    agreeOnAll(network, { kind: "network", topology: presetTopology(network) }),
  );

  it("was made above in every format", () => expect(made).toEqual(new Set(FORMATS)));

  it("makes the schedule or program first that is asked of a network", async () => {
    const subject: Subject = { kind: "network", topology: presetTopology("dgx-a100:1") };
    const asked = { collective: "allgather", algorithm: "forestcoll", size: "1MiB" };
    await here.run(
      "export dgx-a100:1 --collective allgather --algorithm forestcoll --size 1MiB --to msccl-xml -o a.xml",
    );
    const { files, notes } = await exportInMemory("msccl-xml", subject, asked, { ...lent, path: "a.xml" });
    expect(inMemory(files)).toEqual(written("a.xml", {}));
    expect(notes[0]).toMatch(/per root: .* in the simulation of programs; the trees themselves take/);
  });

  it("makes a program for each of several sizes", async () => {
    const subject: Subject = { kind: "network", topology: presetTopology("ring:4") };
    const asked = { collective: "allgather", sizes: "1KiB,64MiB" };
    await here.run("export ring:4 --collective allgather --sizes 1KiB,64MiB --to msccl-xml -o sizes");
    const { files } = await exportInMemory("msccl-xml", subject, asked, { ...lent, path: "sizes" });
    expect(inMemory(files)).toEqual(written("sizes", { folder: true }));
    await expect(exportInMemory("json", subject, asked, lent)).rejects.toThrow(
      refused("not-alone", "sizesBytes", "1KiB,64MiB", "--to"),
    );
    await here.run("synth ring:4 --collective allgather --algorithm ring --quiet -o sized.json");
    await expect(exportInMemory("msccl-xml", schedule("sized.json"), asked, lent)).rejects.toThrow(
      unexpected("sizesBytes", "schedule"),
    );
  });

  it("reads the options that the command line has", async () => {
    await here.run("synth ring:4 --collective allgather --algorithm ring --quiet -o ring.json");
    await here.run("export ring.json --to msccl-xml --instances 2 --protocol ll -o two.xml");
    const options = { instances: "2", protocol: "ll" };
    const { files } = await exportInMemory("msccl-xml", schedule("ring.json"), options, { ...lent, path: "two.xml" });
    expect(inMemory(files)).toEqual(written("two.xml", {}));
    await expect(exportInMemory("svg", schedule("ring.json"), options, lent)).rejects.toThrow(
      refused("not-together", "protocol", "ll", "--to"),
    );
  });

  it("names files after what is inside", async () => {
    const topology = presetTopology("mesh:3x3@50GiB/s,0.5us");
    const names = async (name: string, subject: Subject): Promise<readonly string[]> =>
      (await exportInMemory(name, subject, {}, lent)).files.map(({ path }) => path);
    expect(await names("json", { kind: "network", topology })).toEqual(["mesh-3x3-50GiB-s-0.5us.json"]);
    expect(await names("json", { kind: "network", topology: { ...topology, name: "../../.." } })).toEqual([
      "banyan.json",
    ]);
    await here.run("synth ring:3 --collective allgather --algorithm ring --quiet -o named.json");
    expect(await names("chakra", schedule("named.json"))).toContain("allgather-ring-3-chakra/collective.0.et");
  });

  it("names the files of each format differently", () => {
    const subject: Subject = { kind: "network", topology: presetTopology("mesh:3x3") };
    const names = EXPORTERS.map((exporter) => fileNameOf(exporter, subject));
    expect(new Set(names).size).toBe(EXPORTERS.length);
    expect(names).toEqual(
      expect.arrayContaining(["mesh-3x3.json", "mesh-3x3-msccl.xml", "mesh-3x3-perfetto.json", "mesh-3x3-report.html"]),
    );
  });

  it("shows how far it is, and stops where nobody waits any more", async () => {
    const shown: Progress[] = [];
    const progress = (step: Progress): void => void shown.push(step);
    const subject: Subject = { kind: "network", topology: presetTopology("mesh:4x4") };
    await exportInMemory("json", subject, { collective: "allgather" }, { ...lent, progress });
    expect(shown.map(({ what }) => what)).toEqual(
      expect.arrayContaining(["verifying", expect.stringMatching(/^writing/)]),
    );
    const signal = AbortSignal.abort();
    await expect(exportInMemory("json", subject, { collective: "allgather" }, { ...lent, signal })).rejects.toThrow(
      CancelledError,
    );
  });
});
