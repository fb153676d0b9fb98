import { describe, expect, it } from "vitest";
import { InputError } from "../../src/base/errors.ts";
import { visible } from "../../src/base/visible.ts";
import { openEngine } from "../../src/engine/engine.ts";
import { readTopology } from "../../src/import/networks/network-formats.ts";
import { readProgram } from "../../src/import/programs/program.ts";
import { EXPORTERS } from "../../src/run/export/exporters.ts";
import { exportInMemory, type MadeFile } from "../../src/run/export/in-memory.ts";
import type { Subject } from "../../src/run/export/subject.ts";
import { synthesize } from "../../src/run/synthesize.ts";
import { expectInert, expectVisible, HOSTILE, hostileNetwork } from "../support/hostile-names.ts";
import { mpiEngine } from "../support/mpi-engine.ts";
import { elementsOf } from "../support/svg-elements.ts";

/** Every format of `banyan export`, a new one too: what it makes of hostile names. */
const engine = await openEngine({ threads: 0 });
const { signal } = new AbortController();
const INSIDE = '<script type="application/json" id="banyan-inside">';
const page = async (): Promise<string> => `<!doctype html><title>Banyan</title>${INSIDE}null</script>\n`;
const lent = { engine, signal, version: "1", page, mpiEngine };
const NPUS = 8;

const program = `<algo name="NAME" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="1" outofplace="1" minBytes="0" maxBytes="0">
${[0, 1]
  .map(
    (gpu) => `<gpu id="${gpu}" i_chunks="1" o_chunks="2" s_chunks="0">
<tb id="0" send="${1 - gpu}" recv="-1" chan="0"><step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="${gpu}" cnt="1" depid="-1" deps="-1" hasdep="0"/></tb>
<tb id="1" send="-1" recv="${1 - gpu}" chan="0"><step s="0" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="${1 - gpu}" cnt="1" depid="-1" deps="-1" hasdep="0"/></tb>
<tb id="2" send="-1" recv="-1" chan="0"><step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="${gpu}" cnt="1" depid="-1" deps="-1" hasdep="0"/></tb></gpu>`,
  )
  .join("\n")}
</algo>
`;

/** A network, its schedules of both kinds, and a program, all with the hostile names from one on. */
async function subjects(first: number): Promise<Subject[]> {
  const topology = readTopology(hostileNetwork(first, NPUS), `net${HOSTILE[first]}.json`);
  const steps = await synthesize(engine, topology, { collective: "allgather", sizeBytes: 2 ** 20, algorithm: "ring" });
  const trees = await synthesize(engine, topology, {
    collective: "allgather",
    sizeBytes: 2 ** 20,
    algorithm: "forestcoll",
  });
  const text = program.replace("NAME", "a&#9;b&#10;banyan: forged&#x202e;&#x9b;31m&lt;script>alert(1)");
  const read = readProgram(text, "program.xml");
  return [
    { kind: "network", topology },
    { kind: "schedule", ...steps },
    { kind: "schedule", ...trees },
    { kind: "program", name: HOSTILE[first] as string, program: read },
  ];
}

const sets = await Promise.all([0, 8, 16].map(subjects));

/** Formats of bytes, which are no text. */
const isBinary = ({ path }: MadeFile): boolean => /\.(bys|et)$/.test(path);

function expectHarmless(file: MadeFile): void {
  const bytes = Buffer.concat(file.parts);
  expectVisible(file.path.replaceAll("\n", "\0"), "the name of a file");
  expect(file.path).not.toMatch(/^[=+\-@./]|\.\./);
  if (isBinary(file)) {
    for (const name of HOSTILE.filter((name) => visible(name) !== name))
      expect([file.path, bytes.includes(name)]).toEqual([file.path, false]);
    return;
  }
  const text = bytes.toString("utf8");
  expect([file.path, Buffer.from(text).equals(bytes)]).toEqual([file.path, true]);
  expectVisible(text, file.path);
  if (/\.(html|svg|xml)$/.test(file.path)) expectInert(text, file.path);
  if (/\.(svg|xml)$/.test(file.path)) expect(elementsOf(text).map(({ name }) => name)).not.toContain("script");
  if (file.path.endsWith(".json")) JSON.parse(text);
}

describe.each(EXPORTERS.map(({ name }) => name))("export --to %s", (name) => {
  it("writes nothing of hostile names that forges, hides or runs, or refuses in a sentence", async () => {
    let written = 0;
    for (const subject of sets.flat()) {
      try {
        const { files, what, notes } = await exportInMemory(name, subject, {}, lent);
        for (const file of files) expectHarmless(file);
        for (const text of [what, ...notes]) expect(text).not.toContain("\n");
        written += files.length;
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        expectVisible(error.message.replaceAll("\n", "\0"), `the refusal of ${name}`);
      }
    }
    expect(written).toBeGreaterThan(0);
  });
});

describe("names", () => {
  const textOf = async (name: string, subject: Subject): Promise<string> => {
    const { files } = await exportInMemory(name, subject, {}, lent);
    return Buffer.concat((files[0] as MadeFile).parts).toString();
  };

  it("come back from our JSON, and from the page with a network inside, as they were", async () => {
    for (const [network] of sets) {
      if (network?.kind !== "network") throw new Error("a network comes first");
      const inside = (await textOf("html", network)).split(INSIDE)[1]?.split("</script>")[0] as string;
      expect(inside).not.toContain("<");
      for (const text of [await textOf("json", network), JSON.parse(inside).text as string]) {
        const { name, nodeNames, nodeTraits } = readTopology(text, "again");
        expect({ name, nodeNames, nodeTraits }).toEqual({
          name: network.topology.name,
          nodeNames: network.topology.nodeNames,
          nodeTraits: network.topology.nodeTraits,
        });
      }
    }
  });

  it("come back from an MSCCL XML as they were", async () => {
    const subject = sets[0]?.[3];
    if (subject?.kind !== "program") throw new Error("a program comes last");
    const again = readProgram(await textOf("msccl-xml", subject), "again.xml");
    expect(again?.name).toBe("a\tb\nbanyan: forged\u202e\u009b31m<script>alert(1)");
  });

  it("are no entities in a DOT file, which Graphviz would resolve in labels", async () => {
    const dot = await textOf("dot", sets[2]?.[0] as Subject);
    expect(dot).toContain('label="&amp;#x202e;&amp;lt;entity"');
  });
});
