import { count, significant } from "../../report/amounts.ts";
import type { KernelTimes } from "../protocol.ts";

/** What the table of kernels says. */

/** Headings of the figures; times are in milliseconds. */
export const FIGURES = ["WebAssembly", "JavaScript", "Ratio", "Same bits"] as const;

/** What the times are. */
export const UNITS = "Milliseconds of a call, the median of a few; ratio of JavaScript to WebAssembly";

const DIGITS = 3;
/** Where there is nothing to say. */
export const NONE = "–";

/** Returns the cells of FIGURES; empty ones until the kernel is measured. */
export function figuresOf({ wasmMs, js }: KernelTimes): readonly string[] {
  if (wasmMs === null) return FIGURES.map(() => "");
  const wasm = significant(wasmMs, DIGITS);
  if (js === null) return [wasm, NONE, NONE, NONE];
  return [wasm, significant(js.ms, DIGITS), (js.ms / wasmMs).toFixed(1), js.isSame ? "yes" : "no"];
}

/** Returns what is known when all kernels are measured, a sentence. */
export function summaryOf(rows: readonly KernelTimes[]): string {
  const compared = rows.filter(({ js }) => js !== null);
  const same = compared.filter(({ js }) => js?.isSame).length;
  const silent = rows.filter(({ js }) => js === null).map(({ kernel }) => kernel);
  const others = silent.length === 0 ? "" : ` and has no ${silent.join(", ")}`;
  return `JavaScript gives the same bits for ${same} of ${count(compared.length, "kernel")}${others}.`;
}

/** Returns the table as Markdown, under a line that says where it was measured. */
export function markdownOf(rows: readonly KernelTimes[], where: string): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    `Kernels in a browser's tab: ${where}. ${UNITS}.`,
    "",
    line(["Kernel", "Network", "Collective", ...FIGURES]),
    line(["---", "---", "---", ...FIGURES.map(() => "--:")]),
    ...rows.map((row) => line([row.kernel, row.network, row.collective, ...figuresOf(row)])),
    "",
  ].join("\n");
}

/** Browsers as they call themselves; most call themselves the last ones, too. */
const BROWSERS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/(?:Edg|EdgA|EdgiOS)\/(\d+)/, "Edge"],
  [/OPR\/(\d+)/, "Opera"],
  [/SamsungBrowser\/(\d+)/, "Samsung Internet"],
  [/(?:Firefox|FxiOS)\/(\d+)/, "Firefox"],
  [/(?:Chrome|CriOS)\/(\d+)/, "Chrome"],
  [/Version\/(\d+(?:\.\d+)?).*Safari\//, "Safari"],
];

/** Returns a browser's name and version, "Firefox 133", or all that it says of itself where it is another one. */
export function browserOf(userAgent: string): string {
  for (const [pattern, name] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version !== undefined) return `${name} ${version}`;
  }
  return userAgent;
}
