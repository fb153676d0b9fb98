import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

/** Inputs that are kept, a file for each target: a JSON text a line. */
const FOLDER = new URL("../../fixtures/corpus/", import.meta.url);
const fileOf = (target: string): URL => new URL(`${target}.jsonl`, FOLDER);

/** Returns the inputs that are kept for a target; none where there is no file. */
export const keptInputs = (target: string): string[] =>
  existsSync(fileOf(target))
    ? readFileSync(fileOf(target), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as string)
    : [];

/** Returns an input as a line of ASCII. */
const lineOf = (input: string): string =>
  JSON.stringify(input).replace(
    /[\u007f-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Keeps inputs for a target instead of those before, the shortest first. */
export function keepInputs(target: string, inputs: readonly string[]): void {
  const lines = [...new Set(inputs.map(lineOf))].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(fileOf(target), lines.map((line) => `${line}\n`).join(""));
}
