import { describe, expect, it } from "vitest";
import { runPages } from "../../scripts/docs/pages.mjs";
import { runPage } from "../../scripts/run-docs.mjs";

/** Several commands of a page may take ten seconds each. */
const PAGE_MS = 600_000;

describe("every command of the documentation prints what stands below it", () => {
  for (const page of runPages().filter((page: string) => page !== "README.md"))
    it(
      page,
      () => {
        const wrong = runPage(page)
          .filter(({ problem }) => problem !== undefined)
          .map(({ line, command, problem, got }) => ({ line, command, problem, got }));
        expect(wrong).toEqual([]);
      },
      PAGE_MS,
    );
});
