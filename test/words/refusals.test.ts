import { describe, expect, it } from "vitest";
import { InputError } from "../../src/base/errors.ts";
import { type OptionId, placeOf, ROWS } from "../../src/request/option-table.ts";
import { commandsHere } from "../support/cli-here.ts";
import { keptInputs } from "../support/fuzz/corpus.ts";
import { fuzzTargets } from "../support/fuzz/targets.ts";

/**
 * The words of refusals, which no other test holds (support/refusals.ts): *.txt beside this file, a sentence a line.
 * `npx vitest run test/words -u` writes them anew; the difference is what is to be read.
 */

/** Returns the first line of what `ask` is refused with, and its wording: without numbers; null where it is not refused. */
async function refusalOf(ask: () => unknown): Promise<{ sentence: string; wording: string } | null> {
  try {
    await ask();
  } catch (error) {
    if (!(error instanceof InputError)) return null;
    const sentence = error.message.split("\n", 1)[0] as string;
    return { sentence, wording: `${error.mistake} ${error.expected}`.replace(/[\w./-]*\d[\w./-]*/g, "#") };
  }
  return null;
}

/** Returns the first sentence of every wording that was not heard before, in order. */
async function sentencesOf(asks: Iterable<() => unknown>, heard: Set<string>): Promise<string[]> {
  const sentences: string[] = [];
  for (const ask of asks) {
    const refusal = await refusalOf(ask);
    if (refusal === null || heard.has(refusal.wording)) continue;
    heard.add(refusal.wording);
    sentences.push(refusal.sentence);
  }
  return sentences;
}

const textOf = (parts: readonly (readonly [title: string, sentences: readonly string[]])[]): string =>
  parts
    .filter(([, sentences]) => sentences.length > 0)
    .map(([title, sentences]) =>
      [title, ...sentences.map((sentence) => `  ${sentence}\n`)].join("\n").replaceAll("\n\n", "\n"),
    )
    .join("\n");

describe("the words", () => {
  it("of what readers refuse, on what fuzzing kept", async () => {
    const parts: [string, string[]][] = [];
    const heard = new Set<string>();
    for (const { name, check } of fuzzTargets()) {
      const asks = keptInputs(name).map((input) => () => check(input));
      parts.push([name, await sentencesOf(asks, heard)]);
    }
    expect(parts.filter(([, sentences]) => sentences.length > 0).length).toBeGreaterThan(20);
    await expect(textOf(parts)).toMatchFileSnapshot("readers.txt");
  });

  it("of values that options refuse", async () => {
    const texts = ["", "?", "-1", "0", "1e99", "a,,b", "1:2:3:4"];
    const parts: [string, string[]][] = [];
    for (const id of Object.keys(ROWS) as OptionId[]) {
      const { parse } = ROWS[id];
      const asks = texts.map((text) => () => parse?.(text, placeOf(id)));
      parts.push([id, await sentencesOf(asks, new Set())]);
    }
    expect(parts.filter(([, sentences]) => sentences.length > 0).length).toBeGreaterThan(20);
    await expect(textOf(parts)).toMatchFileSnapshot("options.txt");
  });
});

describe("the words of command lines that are refused", () => {
  const here = commandsHere();
  const LINES = [
    "snth mesh:3x3",
    "synth mesh:3x3 --sise 1",
    "topology",
    "verify a b",
    "bound mesh:3x3 --collective",
    "synth",
    "synth mseh:3x3 --collective allgather",
    "synth no.json --collective allgather",
    "synth mesh:3x3",
    "synth mesh:3x3 --collective all-gathr",
    "synth mesh:3x3 --collective custom:no.json",
    "synth mesh:3x3 --collective broadcast --root 9",
    "synth mesh:3x3 --collective broadcast --root 8 --group 0,1,2",
    "synth mesh:3x3 --collective allgather --root 4",
    "synth mesh:3x3 --collective allgather --group 0,1,0",
    "synth mesh:3x3 --collective allgather --outsiders none",
    "synth mesh:3x3 --collective allgather --without 99",
    "synth mesh:3x3 --collective allgather --without 0-8",
    "synth mesh:3x3 --collective allgather --without 1,3",
    "synth mesh:3x3 --collective allgather --degrade 0-1=2",
    "synth mesh:3x3 --collective allgather --algorithm magic",
    "synth mesh:4x4 --without 5 --collective allreduce --algorithm themis",
    "synth circulant:16,1,3 --collective allreduce --algorithm themis",
    "synth torus:4x4 --group 0,5 --collective allreduce --algorithm themis",
    "synth torus:4x4 --group 0,1;4,8 --collective allreduce --algorithm themis",
    "synth torus:4x4 --group 0,1;2,3 --collective allgather --algorithm forestcoll --k auto",
    "topology switch:4,sums",
    "topology ring:4,sum*switch:4",
    "synth ring:6 --collective allgather --algorithm rhd",
    "synth mesh:3x3 --collective allgather --algorithm ring --trials 3",
    "synth mesh:3x3 --collective allgather --policy oldes",
    "synth mesh:3x3 --collective allgather --size 9KB --chunks 2000",
    "synth mesh:3x3 --collective allreduce --size 999TiB --algorithm ring",
    "synth mesh:3x3 --collective allgather --gpu a100",
    "synth mesh:3x3 --collective allgather -o no/folder/x.json",
    "synth mesh:3x3 --collective allgather -o .",
    "synth torus:4x4 --collective allgather --algorithm c-cube",
    "synth torus:4x4 --collective allgather --algorithm tto",
    "synth torus:4x4 --collective allgather --algorithm nvls",
    "synth torus:4x4 --collective allgather --algorithm expand",
    "synth torus:20x20 --collective allgather --algorithm sccl",
    "synth torus:4x4 --collective broadcast --algorithm bfb",
    "synth torus:4x4 --collective allgather --algorithm forestcoll --k 0",
    "compare mesh:3x3",
    "compare mesh:3x3 --collective allgather --sizes 1KiB..1B",
    "compare mesh:3x3 --collective allgather --sizes 1KiB --algorithms magic",
    "bound mesh:3x3 --collective alltoal",
    "search --nodes 8",
    "search --nodes 8 --degree 0",
    "search --nodes 8 --degree 2 --size 1:2:3",
    "search --all --nodes 8",
    "calibrate dgx-a100:1 absent.log",
    "export mesh:3x3 --to xml -o x",
    "export mesh:3x3 --to json",
    "export mesh:3x3 --to steps -o x",
    "export mesh:80x80 --to dot -o x.dot",
    "export mesh:3x3 --collective allgather --to forestcoll-xml -o x",
    "export mesh:3x3 --to json --dialect rccl -o x",
    "export mesh:3x3 --collective broadcast --to msccl-xml --min-bytes 2MiB --max-bytes 1MiB -o x",
    "verify no.json",
    "simulate no.json",
    "explain no.json",
    "run no.json",
  ] as const;

  it("are these", async () => {
    const parts: [string, string[]][] = [];
    for (const line of LINES) {
      const { failure } = await here.ends(line);
      parts.push([line, failure === null ? [] : [failure.message]]);
    }
    expect(parts.filter(([, sentences]) => sentences.length === 0)).toEqual([]);
    await expect(textOf(parts)).toMatchFileSnapshot("command-lines.txt");
  });
});
