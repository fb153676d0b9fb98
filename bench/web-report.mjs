// The Markdown of `npm run bench -- web`.
import { figure, reportHead, table } from "./support.mjs";
import { LEAST_FRAMES, VIEWS } from "./web-cases.mjs";

const ABOUT = [
  "Headless Chromium without a GPU (drawing is software), the page served by `banyan serve`. Syntheses: seconds from the click to",
  "the frame that shows the answer, which is verified, simulated and bounded by then; median of 3, the worker running. With",
  "threads: cross-origin isolated. Frames: while the network or the matrix is dragged, zoomed and pointed at, or",
  "the schedule plays.",
];
const kB = (bytes) => figure(bytes / 1000, 3);

export function report({ machine: where, syntheses, motion, first, axe, scores, files }) {
  const lines = reportHead("web", "The app in a tab", ABOUT, where);
  lines.push(
    table(
      ["network", "collective", "size", "algorithm", "with threads s", "without s", "required s"],
      syntheses.map((row) => [
        row.topology,
        row.collective,
        row.size,
        row.algorithm,
        figure(row.threadsSeconds, 3),
        figure(row.aloneSeconds, 3),
        row.mostSeconds ?? "",
      ]),
    ),
    "",
    table(
      ["network", "while", "frames/s", "slowest twentieth", "required"],
      motion.map((row) => [
        row.topology,
        row.what,
        figure(row.median, 3),
        figure(row.slowest, 3),
        row.required ? LEAST_FRAMES : "",
      ]),
    ),
    "",
    `First load: first paint ${figure(first.firstPaintMs, 3)} ms, largest ${figure(first.largestPaintMs, 3)} ms, blocking ${figure(first.blockingMs, 3)} ms, layout shift ${figure(first.layoutShift, 3)}; ${first.requests} requests, ${kB(first.bytes)} kB with the worker and its WebAssembly.`,
    "",
    `Accessibility (axe, WCAG 2.1 A and AA): ${axe.every(({ found }) => Object.values(found).every((ids) => ids.length === 0)) ? `no violation in ${VIEWS.length} views, light and dark, 1280x800 and 390x844` : JSON.stringify(axe)}.`,
    "",
    ...(scores === null
      ? []
      : scores.map(
          ({ form, version, ...rest }) =>
            `Lighthouse ${version}, ${form}: ${Object.entries(rest)
              .map(([name, score]) => `${name} ${score}`)
              .join(", ")}.`,
        )),
    "",
    table(
      ["file", "kB", "kB brotli", "first load"],
      files.map(({ file, bytes, brotli, first: isFirst }) => [file, kB(bytes), kB(brotli), isFirst ? "yes" : ""]),
    ),
  );
  return lines.join("\n");
}
