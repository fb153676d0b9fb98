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
    ["the first view again", `${A}&view=time&run=1`, `${A}&run=1`, "push"],
    ["a schedule in a view", `${A}&view=time`, `${A}&view=time&run=1`, "replace"],
  ] as const)("%s", (_, before, next, how) => {
    expect(followUp(before, next)).toBe(how);
  });
});
