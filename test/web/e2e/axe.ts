import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

/** Returns what breaks a rule of WCAG 2 A and AA as a page stands (opened with bypassCSP), and by how much it is too wide. */
export async function brokenRules(page: Page, where: string): Promise<string[]> {
  const { violations, passes } = (await page.evaluate(
    `${AXE}; axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], resultTypes: ["violations"] })`,
  )) as { readonly violations: readonly Violation[]; readonly passes: readonly { readonly id: string }[] };
  expect(passes.map(({ id }) => id)).toContain("color-contrast");
  const broken = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${where}: ${id} at ${target}: ${failureSummary}`),
  );
  const overflow = (await page.evaluate("document.documentElement.scrollWidth - innerWidth")) as number;
  return overflow > 0 ? [...broken, `${where}: the page is ${overflow} px too wide`] : broken;
}
