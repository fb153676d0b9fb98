import { expect, it } from "vitest";
import { comparisonLines } from "../../src/cli/reports/comparison-lines.ts";
import { styleOf } from "../../src/cli/reports/style.ts";
import { compare, topology } from "../../src/index.ts";

it("a comparison that was stopped claims no gain at the size that it was at", async () => {
  const network = topology("mesh:3x3");
  const algorithms = ["ring", "tacos"];
  const request = {
    topology: network,
    collective: "allreduce",
    sizesBytes: [2 ** 20, 2 ** 30],
    algorithms,
    threads: 0,
  } as const;
  const whole = await compare(request);
  const context = { style: styleOf(false), options: {}, terminal: null };
  const textOf = (comparison: typeof whole): string => comparisonLines(comparison, network, context).join("\n");
  const [first, second] = [/^ +1 MiB +tacos +\S/m, /^ +1 GiB +tacos +\S/m];
  expect(textOf(whole)).toMatch(first);
  expect(textOf(whole)).toMatch(second);
  const stopped = textOf({ ...whole, stopped: true });
  expect(stopped).toMatch(first);
  expect(stopped).not.toMatch(second);
  expect(stopped).toMatch(/fastest of its size so far/);
});
