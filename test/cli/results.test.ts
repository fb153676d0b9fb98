import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { SaxesParser } from "saxes";
import { describe, expect, it } from "vitest";
import { banyanHere, commandsHere } from "../support/cli-here.ts";
import { sweepRows } from "../support/sweep-rows.ts";

const here = commandsHere();
const rows = sweepRows(400, 9);
const SHA = "ab".repeat(32);

/** Returns how a command line ends whose words may stand in single quotes. */
const ends = (line: string) =>
  banyanHere((line.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replace(/^'(.*)'$/, "$1")));

/** Returns what it writes; fails unless it ends well. */
async function run(line: string): Promise<string> {
  const { code, out, err } = await ends(line);
  expect([code, err]).toEqual([0, ""]);
  return out;
}

const json = async (line: string) => JSON.parse(await run(`${line} --json`));

/** Makes a sweep's folder with results, and one that is still going on. */
function folders(): void {
  for (const name of ["links.sweep", "going.sweep"]) mkdirSync(here.at(name), { recursive: true });
  const kept = { ...rows[0], schedule: SHA };
  here.put("links.sweep/results.jsonl", `${[kept, ...rows.slice(1)].map((row) => JSON.stringify(row)).join("\n")}\n`);
  here.put("links.sweep/sweep.json", { name: "links", verb: "synth", options: { timeLimit: "5s" } });
  const cells = { topology: "mesh:4x4", without: null, size: "1MiB", count: 1 };
  const entry = { task: "t", cells, status: "done", why: null, rows: [{ us: 3 }], schedule: null };
  here.put("going.sweep/outcomes.jsonl", `${JSON.stringify(entry)}\n{"task":"cut`);
}

/** Returns the names of the elements of a picture. Throws for what is no XML. */
function elementsOf(file: string): string[] {
  const names: string[] = [];
  const parser = new SaxesParser();
  parser.on("opentag", ({ name }) => {
    names.push(name);
  });
  parser.write(readFileSync(here.at(file), "utf8")).close();
  return names;
}

describe("banyan results", () => {
  it("shows the first rows, what all have, and what is left out", async () => {
    folders();
    const text = await run("results links.sweep --where 'status = done and collective = allgather' --limit 3");
    expect(text).toMatch(/results {5}links\.sweep: \d+ rows of 400/);
    expect(text).toMatch(/all {9}collective allgather, status done/);
    expect(text).toMatch(/and \d+ more rows \(--limit, or -o FILE\)/);
    expect(text).toMatch(/topology +without +size +algorithm +us +of_limit/);
    expect(await run("results links.sweep --where 'us < 0'")).toBe("results     links.sweep: 0 rows of 400\n");
  });

  it("answers with no rows where there are none", async () => {
    folders();
    const none = await json("results links.sweep --where 'us < 0' --columns us,size");
    expect(none).toMatchObject({ matching: 0, rows: [], columns: [{ name: "us" }, { name: "size" }] });
    here.put("empty.jsonl", "");
    expect(await run("results empty.jsonl")).toBe("results     empty.jsonl: 0 rows\n");
    for (const ending of ["csv", "parquet", "duckdb"]) {
      await run(`results empty.jsonl -o empty.${ending} -q`);
      expect((await json(`results empty.${ending}`)).allRows).toBe(0);
    }
    expect((await json("results empty.jsonl --sql 'select count(*) as n from results'")).rows).toEqual([{ n: 0 }]);
    expect((await ends("results empty.jsonl --where 'us < 3'")).err).toContain('is "us"');
  });

  it("says what a sweep has so far", async () => {
    folders();
    const { out, err } = await ends("results going.sweep --json");
    expect(JSON.parse(out)).toMatchObject({ finished: false, allRows: 1, rows: [{ task: "t", us: 3 }] });
    expect(err).toContain("the last line of going.sweep/outcomes.jsonl is cut off, and left out");
    expect(err).toContain("the sweep is still going on, or was stopped");
  });

  it("sorts, groups and crosses", async () => {
    folders();
    const sorted = await json("results links.sweep --sort -us,size --columns us,size --limit 5");
    const times = rows.map((row) => (row["us"] as number | undefined) ?? 0).sort((a, b) => b - a);
    expect(sorted.rows.map((row: { us: number }) => row.us)).toEqual(times.slice(0, 5));
    expect(sorted.matching).toBe(400);
    const { rows: groups } = await json("results links.sweep --group size --value 'count(),best(us)'");
    expect(groups.map((row: { size: string }) => row.size)).toEqual(["1KiB", "64KiB", "1MiB", "1GiB"]);
    expect(groups.reduce((sum: number, row: { count: number }) => sum + row.count, 0)).toBe(400);
    expect(groups[0].best_task).toMatch(/^[0-9a-f]{64}$/);
    const { pivot } = await json("results links.sweep --pivot 'topology,without x size' --value 'count()'");
    expect(pivot.all).toBe(400);
    expect(pivot.rowMargin.reduce((a: number, b: number) => a + b)).toBe(400);
    expect(pivot.cells).toHaveLength(pivot.rows.length);
    expect(await run("results links.sweep --pivot 'topology x size' --value us")).toMatch(
      /topology +1KiB +64KiB +1MiB +1GiB +all/,
    );
  });

  it("names the task behind a cell, with the command that does it again", async () => {
    folders();
    const { topology, without, collective, size, algorithm, task } = rows[0] as Record<string, string>;
    const cell = `topology='${topology}', without=${without}, collective=${collective}, size=${size}, algorithm=${algorithm}, task=${task}`;
    const { code, out } = await banyanHere(["results", "links.sweep", "--cell", cell, "--json"]);
    const { tasks } = JSON.parse(out);
    expect(code).toBe(0);
    expect(tasks).toHaveLength(1);
    expect(tasks[0].task).toBe(task);
    expect(tasks[0].schedule).toBe(`links.sweep/store/ab/${SHA.slice(2)}`);
    expect(tasks[0].command).toMatch(/^banyan synth \S.* --time-limit 5s /);
    expect(tasks[0].command).toContain(`--collective ${collective} --size ${size} --algorithm ${algorithm}`);
    expect((await banyanHere(["results", "links.sweep", "--cell", "size=3GiB"])).err).toContain("--cell is");
  });

  it("writes files that it reads again", async () => {
    folders();
    const asked = "results links.sweep --where 'us < 50' --sort us";
    const names = ["a.csv", "a.jsonl", "a.parquet", "a.duckdb"];
    const first = (await json(asked)).rows.map((row: { us: number }) => row.us);
    for (const name of names) {
      await run(`${asked} -o ${name} -q`);
      const again = await json(`results ${name}`);
      expect([name, again.rows.map((row: { us: number }) => row.us)]).toEqual([name, first]);
      expect(again.allRows).toBe(first.length);
    }
    await run(`${asked} -o a.json -q`);
    expect(JSON.parse(readFileSync(here.at("a.json"), "utf8"))).toMatchObject({ schema: "banyan/results@1" });
  });

  it("draws heat, lines, fronts and bars that an XML parser reads", async () => {
    folders();
    await run("results links.sweep --pivot 'topology,without x size' --value us -o heat.svg -q");
    expect(elementsOf("heat.svg").filter((name) => name === "rect").length).toBeGreaterThan(15 * 4);
    await run("results links.sweep --plot lines --x size --y algbw_GBps --colour topology -o lines.svg -q");
    expect(readFileSync(here.at("lines.svg"), "utf8")).toContain("a &quot;b&quot; &lt;c&gt; é漢");
    expect(elementsOf("lines.svg")).toContain("path");
    await run("results links.sweep --plot pareto --x price --y us -o pareto.svg -q");
    expect(elementsOf("pareto.svg").filter((name) => name === "circle").length).toBeGreaterThan(1);
    await run("results links.sweep --plot bars --x topology --y us --colour algorithm -o bars.svg -q");
    expect(elementsOf("bars.svg").filter((name) => name === "rect").length).toBeGreaterThanOrEqual(15);
  });

  it("asks in SQL", async () => {
    folders();
    const { rows: found } = await json(
      "results links.sweep --sql 'select count(*) as n, min(us) as least from results'",
    );
    expect(found).toEqual([
      { n: 400, least: Math.min(...rows.flatMap((row) => (typeof row["us"] === "number" ? [row["us"]] : []))) },
    ]);
  });

  it.each([
    ["--where 'uss < 3'", '--where, column 1 is "uss", not a column; did you mean "us"?'],
    ["--sort -prize", '--sort is "prize", not a column; did you mean "price"?'],
    ["--columns us,siz", '--columns is "siz", not a column; did you mean "size"?'],
    ["--group size", "--group needs --value beside it, such as min(us)"],
    ["--value us", "--value needs --group or --pivot beside it"],
    ["--group size --value 'mni(us)'", 'did you mean "min"?'],
    ["--group size --value 'mean(topology)'", "mean of a column of numbers, or count(topology)"],
    ["--pivot size --value us", 'ROWS x COLUMNS, as in "topology x size"'],
    ["--pivot 'size x topology' --value us --group size", "does not go with"],
    ["--limit 0", "--limit is 0"],
    ["-o x.xlsx", "a name that ends with .csv"],
    ["-o x.svg", "--plot or --pivot beside it"],
    ["--plot lines", "-o NAME.svg beside it"],
    ["--plot lines -o x.svg", "--x and --y beside it"],
    ["--plot heat -o x.svg", "--pivot beside it"],
    ["--plot pie -o x.svg", "--plot is"],
    ["--plot bars --x topology --y why -o x.svg", "columns of numbers"],
    ["--cell size", "COLUMN=VALUE, as in size=1MiB"],
    ["--sql 'selec 1'", "syntax error"],
  ])("refuses %s in a sentence", async (line, sentence) => {
    folders();
    const { code, err } = await ends(`results links.sweep ${line}`);
    expect([code, err]).toEqual([2, expect.stringContaining(sentence)]);
    expect(err.trim().split("\n")).toHaveLength(1);
    expect(existsSync(here.at("x.svg"))).toBe(false);
  });
});
