// The browser app in headless Chromium, served by `banyan serve`: syntheses, frames, first load, accessibility, sizes.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { chromium } from "playwright-core";
import { at, paths } from "../scripts/paths.mjs";
import { findCommand } from "../scripts/toolchain.mjs";
import { figure, machine, median, progress, publish, reportHead, table } from "./support.mjs";
import { DRAWN, LEAST_FRAMES, PLAYED, SYNTHESES, VIEWS } from "./web-cases.mjs";

const ABOUT = [
  "Headless Chromium without a GPU (drawing is software), the page served by `banyan serve`. Syntheses: seconds from the click to",
  "the frame that shows the answer, which is verified, simulated and bounded by then; median of 3, the worker running. With",
  "threads: cross-origin isolated. Frames: while the network is dragged, zoomed and pointed at, or the schedule plays.",
];
const ROUNDS = 3;
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-sync",
];
const ISOLATING = /^cross-origin-(opener|embedder)-policy$/i;

const addressOf = (options, view = "network") =>
  `#${new URLSearchParams({ ...options, view }).toString().replaceAll("%3A", ":").replaceAll("%2C", ",")}`;
const optionsOf = ({ topology, collective, size, algorithm }) => ({ topology, collective, size, algorithm });

/** Starts `banyan serve`; resolves to its address. */
function serve() {
  const child = spawn(process.execPath, [at("dist/cli/main.js"), "serve", "--port", "0"]);
  return new Promise((resolve, reject) => {
    child.stdout.on("data", (part) => {
      const url = /http:\/\/[^\s#]+/.exec(String(part))?.[0];
      if (url !== undefined) resolve({ url, end: () => child.kill() });
    });
    child.on("exit", (code) => reject(new Error(`banyan serve ended with status ${code}`)));
  });
}

/** Opens a page of its own at an address; without `isolated` the headers that isolate it are taken away. */
async function opened(browser, url, { isolated = true, ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    serviceWorkers: "block",
    ...options,
  });
  if (!isolated) {
    await context.route("**", async (route) => {
      const response = await route.fetch();
      const headers = Object.entries(response.headers()).filter(([name]) => !ISOLATING.test(name));
      await route.fulfill({ response, headers: Object.fromEntries(headers) });
    });
  }
  const page = await context.newPage();
  await page.addInitScript(watch);
  await page.goto(url);
  await page.getByRole("button", { name: "Synthesize" }).and(page.locator(":enabled")).waitFor({ timeout: 60_000 });
  return { page, close: () => context.close() };
}

/** In the page, before anything else: what Lighthouse looks at. */
function watch() {
  const seen = { largestPaint: 0, shift: 0, blocking: 0 };
  Object.assign(globalThis, { seen });
  const observe = (type, note) =>
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true });
  observe("largest-contentful-paint", ({ startTime }) => {
    seen.largestPaint = startTime;
  });
  observe("layout-shift", ({ value, hadRecentInput }) => {
    if (!hadRecentInput) seen.shift += value;
  });
  observe("longtask", ({ duration }) => {
    seen.blocking += Math.max(0, duration - 50);
  });
}

/** Returns the seconds that a synthesis took on an opened page. */
async function synthesized(page) {
  await page.evaluate(() => performance.clearMeasures("synthesis shown"));
  await page.getByRole("button", { name: "Synthesize" }).click();
  const found = await page.waitForFunction(
    () =>
      performance.getEntriesByName("synthesis shown").at(-1)?.duration ??
      document.querySelector('[role="alert"]')?.textContent,
    undefined,
    { timeout: 120_000 },
  );
  const duration = await found.jsonValue();
  if (typeof duration !== "number") throw new Error(`the page says: ${duration}`);
  if (!/was verified/.test(await page.locator("body").innerText()))
    throw new Error("the page shows no verified schedule");
  return duration / 1000;
}

async function synthesisRow(browser, url, given) {
  const { topology, collective, size, algorithm, mostSeconds } = given;
  const row = { topology, collective, size, algorithm, mostSeconds };
  for (const [name, isolated] of [
    ["threadsSeconds", true],
    ["aloneSeconds", false],
  ]) {
    progress(`web: ${collective} on ${topology} by ${algorithm}, ${isolated ? "with threads" : "without"}`);
    const { page, close } = await opened(browser, url + addressOf(optionsOf(given)), { isolated });
    const seconds = [];
    for (let round = 0; round < ROUNDS; round++) seconds.push(await synthesized(page));
    row[name] = median(seconds);
    await close();
  }
  return row;
}

/** Returns frames a second, the median and the slowest twentieth, while `act` does something with the page. */
async function frames(page, act) {
  await page.evaluate(() => {
    const times = [];
    const state = { times, runs: true };
    const note = (now) => {
      times.push(now);
      if (state.runs) requestAnimationFrame(note);
    };
    requestAnimationFrame(note);
    Object.assign(globalThis, { noted: state });
  });
  await act();
  const times = await page.evaluate(() => {
    globalThis.noted.runs = false;
    return globalThis.noted.times;
  });
  const gaps = times.slice(1).map((time, i) => time - times[i]);
  const sorted = gaps.toSorted((a, b) => a - b);
  return { median: 1000 / median(gaps), slowest: 1000 / sorted[Math.floor(0.95 * (sorted.length - 1))] };
}

/** Points at, drags and zooms the largest canvas for about three seconds. */
async function handled(page) {
  const boxes = await Promise.all((await page.locator("canvas").all()).map((canvas) => canvas.boundingBox()));
  const { x, y, width, height } = boxes.filter(Boolean).toSorted((a, b) => b.width * b.height - a.width * a.height)[0];
  const [cx, cy] = [x + width / 2, y + height / 2];
  await page.mouse.move(cx, cy);
  const end = performance.now() + 3000;
  for (let step = 0; performance.now() < end; step++) {
    if (step % 40 === 10) await page.mouse.down();
    if (step % 40 === 30) await page.mouse.up();
    if (step % 40 >= 30) await page.mouse.wheel(0, step % 80 >= 40 ? 60 : -60);
    await page.mouse.move(cx + 0.3 * width * Math.sin(step / 9), cy + 0.3 * height * Math.cos(step / 7));
  }
  await page.mouse.up();
}

async function drawnRow(browser, url, { topology, required }) {
  progress(`web: frames of ${topology}`);
  const { page, close } = await opened(browser, url + addressOf({ topology, collective: "allgather", size: "1GiB" }));
  await page.locator("canvas").first().waitFor();
  const row = { topology, what: "network", required, ...(await frames(page, () => handled(page))) };
  await close();
  return row;
}

async function playedRow(browser, url, given) {
  progress(`web: frames of the schedule on ${given.topology}`);
  const { page, close } = await opened(browser, url + addressOf(optionsOf(given), "time"));
  await synthesized(page);
  const play = page.getByRole("button", { name: /^play/i });
  await play.waitFor({ timeout: 60_000 });
  await play.click();
  const row = {
    topology: given.topology,
    what: "schedule playing",
    required: given.required,
    ...(await frames(page, () => page.waitForTimeout(3000))),
  };
  await close();
  return row;
}

/** Returns what a first visit costs. */
async function load(browser, url) {
  progress("web: first load");
  const { page, close } = await opened(browser, url);
  await page.waitForTimeout(1000);
  const found = await page.evaluate(() => {
    const entries = performance.getEntriesByType("resource");
    const [page] = performance.getEntriesByType("navigation");
    return {
      firstPaintMs: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
      largestPaintMs: globalThis.seen.largestPaint,
      blockingMs: globalThis.seen.blocking,
      layoutShift: globalThis.seen.shift,
      bytes: entries.reduce((sum, { transferSize }) => sum + transferSize, page.transferSize),
      requests: entries.length + 1,
    };
  });
  await close();
  return found;
}

/** Returns the violations of WCAG 2 A and AA that axe finds in every view. */
async function accessibility(browser, url) {
  const axe = readFileSync(at("node_modules/axe-core/axe.min.js"), "utf8");
  const rows = [];
  for (const [what, viewport] of [
    ["1280x800", { width: 1280, height: 800 }],
    ["390x844", { width: 390, height: 844 }],
  ]) {
    for (const colorScheme of ["light", "dark"]) {
      const { page, close } = await opened(browser, url, { viewport, colorScheme, bypassCSP: true });
      await page.getByRole("button", { name: "Synthesize" }).click();
      await page.getByText("was verified").first().waitFor();
      const found = {};
      for (const view of VIEWS) {
        progress(`web: accessibility of ${view}, ${what}, ${colorScheme}`);
        await page.evaluate((name) => {
          location.hash = location.hash.replace(/view=\w+/, `view=${name}`);
        }, view);
        await page.waitForTimeout(700);
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() =>
          globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }),
        );
        found[view] = violations.map(({ id }) => id);
      }
      rows.push({ what, colorScheme, found });
      await close();
    }
  }
  return rows;
}

/** Returns the scores of Lighthouse, where it is on PATH (or in LIGHTHOUSE_BIN); null where it is not. */
function lighthouse(url, chrome) {
  const tool = process.env.LIGHTHOUSE_BIN ?? findCommand("lighthouse", process.env);
  if (tool === undefined) return null;
  const folder = mkdtempSync(join(tmpdir(), "banyan-lighthouse-"));
  try {
    return ["mobile", "desktop"].map((form) => {
      progress(`web: Lighthouse, ${form}`);
      const file = join(folder, `${form}.json`);
      const flags = [
        "--quiet",
        "--output",
        "json",
        "--output-path",
        file,
        `--chrome-flags=--headless ${ARGUMENTS.join(" ")}`,
      ];
      const env = { ...process.env, CHROME_PATH: chrome };
      spawnSync(tool, [url, ...flags, ...(form === "desktop" ? ["--preset=desktop"] : [])], { env, stdio: "ignore" });
      const { categories, lighthouseVersion } = JSON.parse(readFileSync(file, "utf8"));
      const scores = Object.values(categories).map(({ title, score }) => [title, Math.round(100 * score)]);
      return { form, version: lighthouseVersion, ...Object.fromEntries(scores) };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns how large the files of the built app are. */
function sizes() {
  const index = readFileSync(join(paths.web, "index.html"), "utf8");
  return readdirSync(paths.web, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const bytes = readFileSync(join(parentPath, name));
      const first = name === "index.html" || index.includes(name);
      return {
        file: name.replace(/-[\w-]{8}(?=\.\w+$)/, ""),
        bytes: bytes.length,
        brotli: brotliCompressSync(bytes).length,
        first,
      };
    })
    .sort((a, b) => Number(b.first) - Number(a.first) || b.brotli - a.brotli);
}

const kB = (bytes) => figure(bytes / 1000, 3);

function report({ machine: where, syntheses, motion, first, axe, scores, files }) {
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

/** Measures, prints and writes; returns how many requirements were missed. */
export async function run() {
  const where = machine();
  const chrome = ["chromium", "chromium-browser", "google-chrome"]
    .map((name) => findCommand(name, process.env))
    .find(Boolean);
  if (chrome === undefined) throw new Error("there is no Chromium on PATH");
  const server = await serve();
  const browser = await chromium.launch({ executablePath: chrome, args: ARGUMENTS });
  try {
    const first = await load(browser, server.url);
    const syntheses = [];
    for (const given of SYNTHESES) syntheses.push(await synthesisRow(browser, server.url, given));
    const motion = [];
    for (const given of DRAWN) motion.push(await drawnRow(browser, server.url, given));
    for (const given of PLAYED) motion.push(await playedRow(browser, server.url, given));
    const axe = await accessibility(browser, server.url);
    await browser.close();
    const data = {
      machine: where,
      syntheses,
      motion,
      first,
      axe,
      scores: lighthouse(server.url, chrome),
      files: sizes(),
    };
    publish("web", data, report(data));
    const late = syntheses.filter(
      ({ mostSeconds, threadsSeconds, aloneSeconds }) =>
        mostSeconds !== null && Math.min(threadsSeconds, aloneSeconds) > mostSeconds,
    );
    const slow = motion.filter(({ required, median: rate }) => required && rate < LEAST_FRAMES);
    const unfit = axe.filter(({ found }) => Object.values(found).some((ids) => ids.length > 0));
    return late.length + slow.length + unfit.length;
  } finally {
    await browser.close();
    server.end();
  }
}
