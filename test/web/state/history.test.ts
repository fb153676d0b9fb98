import { describe, expect, it } from "vitest";
import { followUp } from "../../../src/web/state/history.ts";

const A = "#topology=ring:4&collective=allgather";
const B = "#topology=ring:8&collective=allgather";

describe("entries of the browser's history", () => {
  it.each([
    ["the same", A, A, null],
    ["the first visit", "", A, "replace"],
    ["a first visit with a view", "", `${A}&view=time`, "replace"],
    ["words that change", A, B, "replace"],
    ["a schedule for the words", A, `${A}&run=1`, "replace"],
    ["a schedule that is gone", `${A}&run=1`, A, "replace"],
    ["words that leave a schedule", `${A}&run=1`, B, "push"],
    ["a schedule after a schedule", `${A}&run=1`, `${B}&run=1`, "push"],
    ["another view", A, `${A}&view=time`, "push"],
    ["what a view lets one choose", `${A}&view=links&run=1`, `${A}&view=links&matrix=links&run=1`, "replace"],
    ["another choice", `${A}&view=compare&sizes=1KiB..1GiB*2`, `${A}&view=compare&sizes=1KiB..4KiB*2`, "replace"],
    ["a choice and other words", `${A}&matrix=links&run=1`, `${B}&run=1`, "push"],
    ["another view, with a choice", `${A}&matrix=links&run=1`, `${A}&view=compare&matrix=links&run=1`, "push"],
    ["the first view again", `${A}&view=time&run=1`, `${A}&run=1`, "push"],
    ["a schedule in a view", `${A}&view=time`, `${A}&view=time&run=1`, "replace"],
  ] as const)("%s", (_, before, next, how) => {
    expect(followUp(before, next)).toBe(how);
  });

  it.each([
    ["the same schedule", "#topology=ring:4&run=1", `${A}&run=1`, "replace"],
    ["the first view, which goes without saying", `${A}&view=network`, A, "replace"],
    ["another view, chosen at once", A, `${A}&view=time&run=1`, "push"],
  ] as const)("%s after words that were not written here", (_, before, next, how) => {
    expect(followUp(before, next, true)).toBe(how);
  });
});
