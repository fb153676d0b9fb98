import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NETWORK_OPTIONS, PAGE_OPTIONS } from "../../../src/request/option-table.ts";
import { readAddress, saysNothing, writeAddress } from "../../../src/web/state/address.ts";
import { MATRICES, MEASURES } from "../../../src/web/state/choices.ts";
import { VIEWS, type Words } from "../../../src/web/state/words.ts";
import { runs } from "../../support/runs.ts";

const wordsWith = (given: Partial<Words>): Words => ({
  topology: "mesh:4x4",
  file: null,
  options: { collective: "allgather" },
  view: "network",
  choices: {},
  ...given,
});
const written = (given: Partial<Words>, file: string | null = null, run = false): string =>
  writeAddress(wordsWith(given), file, run);

describe("addresses", () => {
  it("may be anything: what cannot be read is complained of, and nothing is thrown", () => {
    const field = fc.tuple(
      fc.constantFrom("topology", "file", "k", "view", "run", "without", "open", "sizes", "matrix", "x"),
      fc.string(),
    );
    const fields = fc.array(field).map((all) => all.map(([name, value]) => `${name}=${value}`).join("&"));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fields), (text) => {
        const { complaints, topology, view } = readAddress(`#${text}`);
        expect(complaints.every((sentence) => sentence.length > 10)).toBe(true);
        expect(view === null || (VIEWS as readonly string[]).includes(view)).toBe(true);
        expect(topology).not.toBe("");
      }),
      { numRuns: runs(2000) },
    );
  });

  it("have the names of the command line and stay readable", () => {
    const options = {
      collective: "allreduce",
      size: "64MiB",
      algorithm: "auto",
      without: "gpu0,a-b",
      degrade: "1>2=0.5",
      switchDegree: "2",
      timeLimit: "5s",
      offload: true,
      nvls: false,
    };
    expect(written({ topology: "ring:4*switch:2@50,25GB/s", options, view: "time" }, null, true)).toBe(
      "#topology=ring:4*switch:2@50,25GB/s&without=gpu0,a-b&degrade=1%3E2=0.5&collective=allreduce&size=64MiB" +
        "&algorithm=auto&switch-degree=2&time-limit=5s&offload&no-nvls&view=time&run=1",
    );
  });

  it("say what views let one choose, but nothing of what goes without saying", () => {
    const choices = { sizes: "1MiB..1GiB*4", algorithms: "tacos,ring", measure: "busbw", matrix: "links" } as const;
    expect(written({ view: "compare", choices }, null, true)).toBe(
      "#topology=mesh:4x4&collective=allgather&view=compare" +
        "&sizes=1MiB..1GiB*4&algorithms=tacos,ring&measure=busbw&matrix=links&run=1",
    );
    expect(readAddress(written({})).choices).toEqual({});
    const trained = { model: "llama3-70b", parallel: "tp=8,pp=2", batch: "64", microBatch: "2" } as const;
    expect(written({ view: "training", choices: trained })).toBe(
      "#topology=mesh:4x4&collective=allgather&view=training&model=llama3-70b&parallel=tp=8,pp=2&batch=64&micro-batch=2",
    );
    expect(readAddress("#view=training&batch=none&pass=fly&micro-batch=4")).toMatchObject({
      choices: { microBatch: "4" },
      complaints: [expect.stringContaining("batch"), expect.stringContaining("pass")],
    });
  });

  it("read back what was written", () => {
    const text = fc.string({ minLength: 1, unit: "grapheme" });
    const valued = ["gpu", "assume", "root", "group", "policy", "algorithm", "profileSize"];
    const model = fc.record({
      topology: text,
      file: fc.option(text),
      options: fc.dictionary(fc.constantFrom(...valued), text),
      flags: fc.subarray(["offload", "nvls"] as const),
      view: fc.constantFrom(...VIEWS),
      choices: fc.record(
        {
          sizes: fc.constantFrom("1KiB..1GiB*2", "256B..256B*32"),
          algorithms: fc.constantFrom("tacos", "ring,direct"),
          measure: fc.constantFrom(...MEASURES),
          matrix: fc.constantFrom(...MATRICES),
          model: text,
          parallel: fc.constantFrom("auto", "tp=8,pp=2,order=tp-cp-dp-pp"),
          microBatch: fc.constantFrom("1", "16"),
          accelerator: text,
        },
        { requiredKeys: [] },
      ),
      run: fc.boolean(),
    });
    fc.assert(
      fc.property(model, ({ topology, file, options, flags, view, choices, run }) => {
        const all = {
          collective: "broadcast",
          ...options,
          ...Object.fromEntries(flags.map((flag) => [flag, flag === "offload"])),
        };
        const address = readAddress(writeAddress({ topology, file: null, options: all, view, choices }, file, run));
        expect(address).toEqual({
          topology,
          file,
          open: null,
          options: all,
          view: view === "network" ? null : view,
          choices,
          run,
          complaints: [],
        });
      }),
    );
  });

  it("know every option of the page", () => {
    const samples: Record<string, string | boolean> = {
      ...Object.fromEntries([...NETWORK_OPTIONS, ...PAGE_OPTIONS].map((name) => [name, "1"])),
      collective: "reduce",
      degrade: "a=1",
      timeLimit: "1s",
      outsiders: "none",
      switching: "cut-through",
      offload: true,
      nvls: false,
    };
    expect(readAddress(written({ options: samples })).options).toEqual(samples);
  });

  it("name the collective that was meant by saying none", () => {
    expect(written({ options: {} })).toBe("#topology=mesh:4x4&collective=allgather");
  });

  it.each([
    ["#view=tree", 'there is no view "tree", but network'],
    ["#size=lots", "--size"],
    ["#collective=alreduce", 'did you mean "allreduce"'],
    ["#seed=-1", "--seed"],
    ["#chunks=0", "--chunks"],
    ["#offload=no", '"offload" takes no value'],
    ["#size", '"size" has no value'],
    ["#topology=", '"topology" has no value'],
    ["#colour=red", 'nothing is called "colour"'],
    ["#timeLimit=5s", 'nothing is called "timeLimit"'],
    ["#nvls=1", 'nothing is called "nvls"'],
    ["#topology=%E0%A4%A", 'the value of "topology" is cut short'],
    ["#sizes=1KiB,1MiB", "a range such as 1KiB..1GiB*16"],
    ["#algorithms=tacos,", "separated by commas"],
    ["#measure=buswb", 'measure is "buswb"; did you mean "busbw"?'],
    ["#matrix=bytes", 'matrix is "bytes"; it must be one of traffic, links'],
    ["#matrix", '"matrix" has no value'],
    ["#run=yes", '"run" is 1'],
  ])("tell what is wrong with %s, and use the rest", (fragment, sentence) => {
    const address = readAddress(`${fragment}&algorithm=tacos`);
    expect(address.complaints).toHaveLength(1);
    expect(address.complaints[0]).toContain(sentence);
    expect(address).toEqual({ ...readAddress("#algorithm=tacos"), complaints: address.complaints });
  });

  it("take the first of two values and tell of the second", () => {
    const address = readAddress("#topology=ring:4&topology=ring:8");
    expect(address.topology).toBe("ring:4");
    expect(address.complaints).toEqual(['"topology" is given twice; the first counts']);
  });

  it("say nothing where they are empty or nothing in them can be used", () => {
    expect(["", "#", "#&", "#colour=red"].map((fragment) => saysNothing(readAddress(fragment)))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(
      ["#view=time", "#size=1MiB", "#open=a.xml", "#matrix=links"].some((fragment) =>
        saysNothing(readAddress(fragment)),
      ),
    ).toBe(false);
  });
});
