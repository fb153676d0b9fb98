// The browser app in headless Chromium, served by `banyan serve`: syntheses, frames, first load, accessibility, sizes.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { CHROMIUM_ARGUMENTS, chromiumPath, serveApp } from "../scripts/browser.mjs";
import { at, paths } from "../scripts/paths.mjs";
import { webSizes } from "../scripts/web-sizes.mjs";
import { machine, median, progress, publish } from "./support.mjs";
import { DRAWN, LEAST_FRAMES, MATRICES, PLAYED, SYNTHESES, VIEWS } from "./web-cases.mjs";
import { lighthouse } from "./web-lighthouse.mjs";
import { frames, handled, opened, runButton } from "./web-page.mjs";
import { report } from "./web-report.mjs";

const ROUNDS = 3;
const addressOf = (options, view = "network") =>
  `#${new URLSearchParams({ ...options, view }).toString().replaceAll("%3A", ":").replaceAll("%2C", ",")}`;
const optionsOf = ({ topology, collective, size, algorithm }) => ({ topology, collective, size, algorithm });

/** Returns the seconds that a synthesis took on an opened page. */
async function synthesized(page) {
  await page.evaluate(() => performance.clearMeasures("synthesis shown"));
  await runButton(page).click();
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

async function drawnRow(browser, url, { topology, required }) {
  progress(`web: frames of ${topology}`);
  const { page, close } = await opened(browser, url + addressOf({ topology, collective: "allgather", size: "1GiB" }));
  await page.locator("canvas").first().waitFor();
  const row = { topology, what: "network", required, ...(await frames(page, () => handled(page))) };
  await close();
  return row;
}

/** Returns the frames of a view of a schedule; `begin` starts what is measured and returns what goes on meanwhile. */
async function viewRow(browser, url, given, view, what, begin) {
  const { topology, required } = given;
  progress(`web: frames of ${topology}, ${what}`);
  const { page, close } = await opened(browser, url + addressOf(optionsOf(given), view));
  await synthesized(page);
  const act = await begin(page);
  const row = { topology, what, required, ...(await frames(page, act)) };
  await close();
  return row;
}

const playedRow = (browser, url, given) =>
  viewRow(browser, url, given, "time", "schedule playing", async (page) => {
    const play = page.getByRole("button", { name: /^play/i });
    await play.waitFor({ timeout: 60_000 });
    await play.click();
    return () => page.waitForTimeout(3000);
  });

const matrixRow = (browser, url, given) =>
  viewRow(browser, url, given, "links", "who sends whom", async (page) => {
    await page.locator(".heat-map canvas").first().waitFor({ timeout: 60_000 });
    return () => handled(page, ".heat-map canvas");
  });

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
      // not as a first visit: the button stops its example while that is made
      const address = addressOf({ topology: "mesh:4x4", collective: "allgather", size: "256MiB", algorithm: "tacos" });
      const { page, close } = await opened(browser, url + address, { viewport, colorScheme, bypassCSP: true });
      await runButton(page).click();
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

/** Returns how large the files of the built app are, the first load first; names without the hash of their content. */
const sizes = () =>
  webSizes(paths.web)
    .map(({ file, ...rest }) => ({ file: file.replace(/-[\w-]{8}(?=\.\w+$)/, ""), ...rest }))
    .sort((a, b) => Number(b.first) - Number(a.first) || b.brotli - a.brotli);

/** Measures, prints and writes; returns how many requirements were missed. */
export async function run() {
  const where = machine();
  if (chromiumPath === undefined) throw new Error("there is no Chromium on PATH");
  const server = await serveApp();
  const browser = await chromium.launch({ executablePath: chromiumPath, args: CHROMIUM_ARGUMENTS });
  try {
    const first = await load(browser, server.url);
    const syntheses = [];
    for (const given of SYNTHESES) syntheses.push(await synthesisRow(browser, server.url, given));
    const motion = [];
    for (const given of DRAWN) motion.push(await drawnRow(browser, server.url, given));
    for (const given of PLAYED) motion.push(await playedRow(browser, server.url, given));
    for (const given of MATRICES) motion.push(await matrixRow(browser, server.url, given));
    const axe = await accessibility(browser, server.url);
    await browser.close();
    const data = {
      machine: where,
      syntheses,
      motion,
      first,
      axe,
      scores: lighthouse(server.url),
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
