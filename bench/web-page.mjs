// A page of the app that is measured: how it is opened, handled, and how many frames it draws.
import { median } from "./support.mjs";

const ISOLATING = /^cross-origin-(opener|embedder)-policy$/i;

/** Returns the button beneath what is asked; empty views have one too. */
export const runButton = (page) => page.locator(".run-button");

/** Opens a page of its own at an address; without `isolated` the headers that isolate it are taken away. */
export async function opened(browser, url, { isolated = true, ...options } = {}) {
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
  await runButton(page).and(page.locator(":enabled")).waitFor({ timeout: 60_000 });
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

/** Returns frames a second, the median and the slowest twentieth, while `act` does something with the page. */
export async function frames(page, act) {
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

/** Points at, drags and zooms the largest canvas of those for about three seconds. */
export async function handled(page, canvases = "canvas") {
  const boxes = await Promise.all((await page.locator(canvases).all()).map((canvas) => canvas.boundingBox()));
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
