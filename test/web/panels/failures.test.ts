import { afterEach, describe, expect, test } from "vitest";
import { adviceFor, failureAt, sentenceOf, spotOf } from "../../../src/web/panels/failures.ts";
import type { Failure } from "../../../src/web/protocol.ts";
import { trouble, unread } from "../../../src/web/state/store.ts";

/** The properties of the options whose places are used here. */
const OPTIONS: Readonly<Record<string, string>> = {
  "--size": "sizeBytes",
  "--time-limit": "timeLimitMs",
  "--assume": "assume",
  "--gpu": "gpu",
  "--seed": "seed",
};

const input = (place: string | null, message = "expected this but received that"): Failure => ({
  kind: "input",
  place,
  option: place === null ? null : (OPTIONS[place.split(" ", 1)[0] as string] ?? null),
  message,
});

afterEach(() => {
  trouble.value = null;
  unread.value = null;
});

describe("where a failure is shown", () => {
  test("beside the field of the option that caused it", () => {
    expect(spotOf("make", input("--size"), false)).toBe("--size");
    expect(spotOf("make", input("--time-limit"), false)).toBe("--time-limit");
  });
  test("options of files have fields only where there is a file", () => {
    expect(spotOf("network", input("--assume nvlink"), true)).toBe("--assume");
    expect(spotOf("network", input("--assume nvlink"), false)).toBe("network");
  });
  test("beneath the network, the file, in the downloads, or in the alert", () => {
    expect(spotOf("network", input("the size of mesh in mesh"), false)).toBe("network");
    expect(spotOf("open", input("topo.txt line 3"), false)).toBe("file");
    expect(spotOf("export", input("--dialect"), false)).toBe("export");
    expect(spotOf("make", input("--without"), false)).toBe("alert");
    expect(spotOf("address", input(null), false)).toBe("alert");
  });
  test("what no input mends is an alert, whatever it was about", () => {
    for (const kind of ["infeasible", "memory", "internal"] as const)
      expect(spotOf("network", { kind, place: "--size", message: "" }, true)).toBe("alert");
  });
});

test("a failure is told at its spot and nowhere else", () => {
  trouble.value = { about: "make", failure: input("--seed", '--seed is "x"; it must be a whole number') };
  expect(failureAt("--seed")).toBe('--seed is "x"; it must be a whole number.');
  for (const spot of ["--size", "network", "file", "alert"] as const) expect(failureAt(spot)).toBeNull();
});

test("sentences begin with a capital and end, names stay as they are", () => {
  expect(sentenceOf({ message: "the worker failed" })).toBe("The worker failed.");
  expect(sentenceOf({ message: "split is not connected" })).toBe("split is not connected.");
  expect(sentenceOf({ message: "ring:4 without 0,2 is not connected" })).toBe("ring:4 without 0,2 is not connected.");
  expect(sentenceOf({ message: 'expected ","\n  K(3\n     ^' })).toBe('Expected ","\n  K(3\n     ^');
});

test("sentences name what the page has, not commands", () => {
  const unknown = "x.txt lacks a network in a format of `banyan list formats`";
  expect(sentenceOf({ message: unknown })).toBe(
    "x.txt lacks a network, a schedule or a program in a format that can be read.",
  );
});

test("advice is given where the sentence alone does not tell what to do", () => {
  expect(adviceFor({ kind: "memory" })).toMatch(/still here/);
  expect(adviceFor({ kind: "internal" })).toMatch(/report/);
  expect(adviceFor({ kind: "input" })).toBeNull();
});
