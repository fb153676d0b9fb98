import { readFileSync, rmSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { COMMAND_NAMES } from "../../src/cli/protocol.ts";
import { ncclTestsTable } from "../../src/export/tables/nccl-tests.ts";
import { banyan, compile, type Ran } from "../support/cli.ts";
import { commandsHere } from "../support/cli-here.ts";
import { sweepRows } from "../support/sweep-rows.ts";

/**
 * Most tests of command lines run them in their own process. Here the compiled command, a process with a thread that works,
 * says, writes and ends the same: a line of every verb, and one for each way to end.
 */
const here = commandsHere();
beforeAll(compile, 120_000);

const POINTS = [2 ** 12, 2 ** 24].map((sizeBytes) => ({ sizeBytes, us: 20 + sizeBytes / 1e5, algorithm: "ring" }));
const LOG = ncclTestsTable({ collective: "allreduce", ranks: 4, network: "box", version: "1", rows: POINTS });

const PERCEPTRON = readFileSync(new URL("../../examples/perceptron.json", import.meta.url), "utf8");

/** Lines, and the files that they write. Their reports tell no times of the work itself but for `run`. */
const LINES: readonly { readonly line: string; readonly file?: string; readonly code?: number }[] = [
  { line: "topology dgx-a100:1" },
  { line: "bound mesh:3x3 --collective allgather" },
  { line: "synth mesh:3x3 --collective allreduce --quiet -o s.json", file: "s.json" },
  { line: "verify s.json" },
  { line: "simulate s.json --json" },
  { line: "export s.json --to msccl-xml -o s.xml", file: "s.xml" },
  { line: "run s.xml" },
  { line: "probe --from nowhere.json", code: 2 },
  { line: "lab ring:65", code: 2 },
  { line: "explain s.json" },
  {
    line: "compare ring:4 --collective allgather --sizes 1KiB --algorithms ring,direct --format svg -o c.svg",
    file: "c.svg",
  },
  { line: "calibrate ring:4 all_reduce.log" },
  { line: "search --nodes 6 --degree 2 --no-cache" },
  { line: "sweep none.yaml", code: 2 },
  { line: "worker nowhere", code: 2 },
  { line: "results rows.jsonl --group topology --value best(us) -o best.csv", file: "best.csv" },
  {
    line: "atlas ring:4 -c allgather --size 4KiB -a tacos --failures links -o atlas --quiet",
    file: "atlas/index.json",
  },
  { line: "atlas lookup atlas --failed 2-1 --json" },
  { line: "atlas lookup atlas --failed 0-1,2-3", code: 1 },
  { line: "serve no-such.json", code: 2 },
  { line: "list collectives" },
  { line: "help synth" },
  { line: "help snyth", code: 2 },
  { line: "completion bash" },
  { line: "--help" },
  { line: "", code: 2 },
  { line: "topology", code: 2 },
  { line: "verify wrong.json", code: 1 },
  { line: "synth mesh:3x3 --without 1,3 --collective allgather --json", code: 3 },
  // so small a search is done long before its time
  { line: "plan perceptron.json ring:4 --accelerator a100 --algorithms ring" },
  { line: "train gpt2-small ring:4 --accelerator a100 -p tp=4 --batch 4 --algorithms ring" },
];

describe("the command banyan, a process of its own", () => {
  it("is tried with every verb", () => {
    const verbs = LINES.map(({ line }) => line.split(" ")[0]);
    expect(COMMAND_NAMES.filter((verb) => !verbs.includes(verb))).toEqual([]);
  });

  it.each(LINES)(
    "says, writes and ends as in the process of the tests: banyan $line",
    async ({ line, file, code = 0 }) => {
      here.put("all_reduce.log", LOG);
      here.put("perceptron.json", PERCEPTRON);
      here.put(
        "rows.jsonl",
        sweepRows(40, 2)
          .map((row) => JSON.stringify(row))
          .join("\n"),
      );
      if (line.includes("wrong")) {
        const { transfers, ...rest } = JSON.parse(readFileSync(here.at("s.json"), "utf8"));
        const endPs = transfers.endPs.map((ps: number) => ps - 1);
        here.put("wrong.json", { ...rest, transfers: { ...transfers, endPs } });
      }
      const argv = line === "" ? [] : line.split(" ");
      const written = (): string | null => (file === undefined ? null : readFileSync(here.at(file), "utf8"));
      // a process that takes seconds shows how far it is
      const timeless = ({ out, code, err }: Ran) => ({
        code,
        err: err.replace(/^(?!banyan: ).+ {2}[\d.]+ (?:s|min)\b.*\n/gm, ""),
        out: out.replace(/, [\d.]+ \S+$/gm, ", TIME"),
      });
      const ended = timeless(await here.ends(line));
      expect(ended.code).toBe(code);
      const expected = [ended, written()];
      if (file !== undefined) rmSync(here.at(file));
      expect([timeless(await banyan(argv, { cwd: here.at() })), written()]).toEqual(expected);
    },
  );
});
