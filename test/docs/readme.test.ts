import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { blocksOf, runPages, SITE_PAGES, slugOf, textOfPage } from "../../scripts/docs/pages.mjs";
import { referencePages } from "../../scripts/docs/reference.mjs";
import { runSnippets, snippets } from "../../scripts/docs/snippets.mjs";
import { at } from "../../scripts/paths.mjs";
import { commandsOf, comparable, isAsExpected, runPage } from "../../scripts/run-docs.mjs";

const problems = (results: ReturnType<typeof runPage>) =>
  results
    .filter(({ problem }) => problem !== undefined)
    .map(({ page, line, command, problem }) => `${page}:${line} ${command}: ${problem}`);

describe("README.md", () => {
  it("has commands that print what stands below them", () => {
    const results = runPage("README.md");
    expect(problems(results)).toEqual([]);
    expect(results.length).toBeGreaterThanOrEqual(7);
  });
  it("is read in a few minutes", () => {
    expect(textOfPage("README.md").split("\n").length).toBeLessThanOrEqual(170);
  });
});

describe("the pages", () => {
  it("have snippets that compile under strict, run, and print what stands behind them", () => {
    const wrong = `import { synthesize } from "banyan";
const { report } = await synthesize({ topology: "ring:4", collective: "allgather", sizeBytes: 1024 });
export const share: number = report.ofLimit;
`;
    const given = snippets();
    const { errors, runs } = runSnippets([...given, { page: "wrong", line: 1, text: wrong, prints: undefined }]);
    expect(errors).toEqual([expect.stringMatching(/^wrong:4: Type 'number \| null' is not assignable/)]);
    expect(given.length).toBeGreaterThanOrEqual(6);
    for (const { page, line, status, out, err, prints } of runs) {
      expect([page, line, status, err]).toEqual([page, line, 0, ""]);
      if (prints !== undefined) expect([page, line, out]).toEqual([page, line, prints]);
    }
  });

  it("have the commands and options that the table has (`node scripts/docs/reference.mjs` writes them)", () => {
    for (const [path, text] of referencePages())
      expect([path, existsSync(at(path)) && textOfPage(path)]).toEqual([path, text]);
    const pages = SITE_PAGES.filter((page: string) => page.startsWith("docs/reference/"));
    expect([...pages].sort()).toEqual([...referencePages().keys()].sort());
  });

  it("link to files and headings that are there, and name examples that are there", () => {
    const missing: string[] = [];
    const { files } = JSON.parse(readFileSync(at("package.json"), "utf8"));
    const packed = [...files, "README.md", "LICENSE", "package.json"];
    const idsOf = (page: string): Set<string> => {
      const taken = new Map<string, number>();
      let isCode = false;
      const ids = textOfPage(page)
        .split("\n")
        .flatMap((line: string) => {
          if (line.startsWith("```")) isCode = !isCode;
          const heading = isCode ? null : /^#{1,4} (.+)$/.exec(line);
          return heading === null ? [] : [slugOf(heading[1] as string, taken)];
        });
      return new Set(ids);
    };
    for (const page of [...new Set([...runPages(), ...SITE_PAGES])] as string[]) {
      const text = textOfPage(page);
      for (const [, link = ""] of text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(link)) continue;
        const [path = "", fragment] = link.split("#");
        const target = path === "" ? page : new URL(path, `file:///${page}`).pathname.slice(1);
        if (!existsSync(at(target))) missing.push(`${page}: ${link}`);
        else if (page === "README.md" && !packed.some((entry) => target === entry || target.startsWith(`${entry}/`)))
          missing.push(`${page}: ${link} is not in the package`);
        else if (fragment !== undefined && target.endsWith(".md") && !idsOf(target).has(fragment))
          missing.push(`${page}: ${link}`);
      }
      for (const [name] of text.matchAll(/\bexamples\/[\w.-]+\w/g))
        if (!existsSync(at(name))) missing.push(`${page}: ${name}`);
    }
    expect(missing).toEqual([]);
  });

  it("say why where nobody runs a block", () => {
    const languages = new Set(["sh", "console", "ts", "text", "json", "yaml", "", "c", "sql"]);
    for (const page of runPages())
      for (const { lang, line } of blocksOf(textOfPage(page)))
        expect([page, line, languages.has(lang)]).toEqual([page, line, true]);
    const skipped = runPages().flatMap((page: string) =>
      blocksOf(textOfPage(page)).flatMap(({ lang, notRun, lines }) =>
        notRun === undefined ? [] : commandsOf({ lang, lines }).map(({ command }) => command),
      ),
    );
    for (const command of skipped)
      expect(command).toMatch(
        /^npm |^node share\.mjs|banyan serve|banyan lab |banyan probe |found\.json|mpirun |mpicc|cmake |mesh:100x100|mesh:200x200|--sizes 64KiB|--nodes (?:1024|256)|--all |dgx-h100:128 .* msccl-xml|redis:\/\/|slurm|sbatch|BANYAN_REDIS_PASSWORD_FILE|--failed 0-nvsw0,12-rail4/,
      );
  });
});

describe("the comparison of what is printed", () => {
  it("masks how long a synthesis took, and nothing else of the line", () => {
    const line = "  synthesis   1 trial in 107.54 ms on native kernels, 2 threads, seed 1";
    expect(comparable([line])).toEqual(["synthesis 1 trial in TIME on BACKEND, seed 1"]);
    expect(isAsExpected([line], [line.replace("107.54 ms on native kernels", "2.1 s on wasm kernels")])).toBe(true);
    expect(isAsExpected([line], [line.replace("seed 1", "seed 2")])).toBe(false);
  });
  it("masks the last column of a table of syntheses only", () => {
    const table = (last: string, time: string) => [
      "  size  algorithm  time  synthesis",
      `  1 MiB  ring  ${time}  ${last}`,
      "",
      `  rest ${time}`,
    ];
    expect(isAsExpected(table("3 ms", "5 us"), table("7.1 s", "5 us"))).toBe(true);
    expect(isAsExpected(table("3 ms", "5 us"), table("3 ms", "6 us"))).toBe(false);
  });
  it("lets ... stand for any number of lines, in order", () => {
    expect(isAsExpected(["a", "...", "d"], ["a", "b", "c", "d"])).toBe(true);
    expect(isAsExpected(["a", "...", "d"], ["a", "d"])).toBe(true);
    expect(isAsExpected(["a", "...", "d"], ["a", "b"])).toBe(false);
    expect(isAsExpected(["...", "b", "a"], ["a", "b"])).toBe(false);
  });
});

it("examples are our own, small, and explained", () => {
  const explained = readFileSync(at("examples/README.md"), "utf8");
  for (const [, name = ""] of explained.matchAll(/\]\(([\w.-]+)\)/g))
    expect([name, readFileSync(at("examples", name)).length < 10_000]).toEqual([name, true]);
});
