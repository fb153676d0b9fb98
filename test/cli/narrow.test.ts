import { describe, expect, it } from "vitest";
import { fitted, reportWidth } from "../../src/cli/reports/text.ts";

describe("lines of a report", () => {
  const line =
    "  limit       2.0147 ms    533 GB/s                        any algorithm: NPU 0 receives 1.0066 GB through 500 GB/s";
  it.each([80, 100, 120])("keep to %i columns, and go on below their last one", (width) => {
    const lines = fitted(line, width);
    for (const one of lines) expect(one.length).toBeLessThanOrEqual(width);
    for (const one of lines.slice(1)) expect(one.search(/\S/)).toBe(line.indexOf("any algorithm"));
    expect(lines.map((one) => one.trim()).join(" ")).toBe(line.trim());
  });
  it("are as wide as the terminal, 60 to 120 columns", () => {
    expect([null, 40, 80, 200].map((columns) => reportWidth(columns === null ? null : { columns }))).toEqual([
      120, 60, 80, 120,
    ]);
  });
});
