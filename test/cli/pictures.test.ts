import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readXml } from "../../src/import/text/xml.ts";
import { commandsHere } from "../support/cli-here.ts";
import { refused } from "../support/refusals.ts";

const here = commandsHere();
const written = (name: string): string => readFileSync(here.at(name), "utf8");

describe("pictures and reports", () => {
  it.each([
    ["topology", "mesh:3x3", ""],
    ["trees", "mesh:3x3", " --collective allreduce --algorithm forestcoll"],
    ["links", "dgx-a100:1", " --collective allgather --trials 1"],
    ["time", "ring:4", " --collective allgather --algorithm ring"],
  ])("draws %s of %s as well-formed SVG without anything to load", async (view, network, more) => {
    await here.run(`export ${network}${more} --to svg --view ${view} -o ${view}.svg`);
    const text = written(`${view}.svg`);
    expect(readXml(text, view).name).toBe("svg");
    expect(text).not.toMatch(/<script|href=|url\(http/);
  });

  it("reports of a schedule from a file what is reported when it is made", async () => {
    const making = "ring:4 --collective allgather --algorithm ring --size 4MiB";
    await here.run(`synth ${making} --quiet -o ring.json`);
    await here.run(`export ring.json --to report -o file.html`);
    await here.run(`export ${making} --to report -o made.html`);
    const FIGURES = 5;
    const figures = (name: string): readonly string[] =>
      [...written(name).matchAll(/<dd>([^<]*)<\/dd>/g)].map(([, value]) => value as string).slice(0, FIGURES);
    expect(figures("file.html")).toHaveLength(FIGURES);
    expect(figures("file.html")).toEqual(figures("made.html"));
    expect(written("file.html")).toContain("<dd>ring, as the file says</dd>");
    expect(written("file.html")).not.toMatch(/<script src|https?:\/\/(?!www\.w3\.org)/);
  });

  it("reports of trees from a file what is reported when they are made", async () => {
    const making = "dgx-a100:1 --collective allgather --algorithm forestcoll --size 1GiB";
    await here.run(`synth ${making} --quiet -o trees.json`);
    await here.run(`export trees.json --to report -o trees.html`);
    const made = await here.json(`synth ${making}`);
    expect(written("trees.html")).toContain(`${Number(made.time.busbwGBps.toPrecision(4))} GB/s`);
    await here.run("export trees.json --to dot -o trees.dot");
    expect(written("trees.dot")).toMatch(/^digraph/);
  });

  it("says which views there are", async () => {
    await here.refuses(
      "export ring:3 --to svg --view trees -o x.svg",
      refused("not-alone", "view", "trees", "--collective"),
    );
    await here.refuses("export ring:3 --to report -o x.html", refused("not-alone", "to", "report", "--collective"));
  });
});
