// Takes the pictures of the app in docs/images/app/: each view at 1280x800 and at a phone's width, as `banyan serve` shows it.
import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";
import { CHROMIUM_ARGUMENTS, chromiumPath, serveApp } from "./browser.mjs";
import { at } from "./paths.mjs";
import { setup } from "./setup.mjs";

const FOLDER = "docs/images/app";
const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

const press = (name) => async (page) => {
  await page.getByRole("button", { name }).first().click();
  await page.waitForTimeout(2500);
};

/** What is shown; `act` is done before the picture is taken. */
const SCENES = [
  { name: "network", address: "topology=dgx-a100:2&collective=allreduce&size=256MiB&algorithm=auto" },
  {
    name: "bound",
    address: "topology=dgx-h100:4&without=0-rail0&collective=allgather&size=1GiB&algorithm=forestcoll",
  },
  {
    name: "time",
    address: "topology=mesh:4x4&collective=allgather&size=64MiB&algorithm=tacos",
    act: press(/^play/i),
  },
  { name: "trees", address: "topology=dgx-a100:2&collective=allgather&size=1GiB&algorithm=forestcoll" },
  { name: "links", address: "topology=mesh:8x8&collective=allgather&size=64MiB&algorithm=tacos" },
  { name: "steps", address: "topology=mesh:3x3&collective=allgather&size=9MiB&algorithm=tacos" },
  {
    name: "compare",
    address: "topology=dgx-a100:2&collective=allreduce&size=256MiB&algorithm=auto",
    act: async (page) => {
      await press(/^compare/i)(page);
      await page.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden", timeout: 120_000 });
      await page.waitForTimeout(500);
    },
  },
  {
    name: "training",
    address: "topology=dgx-h100:2&collective=allreduce&size=64MiB&algorithm=ring&parallel=tp=4,pp=2,dp=2&batch=32",
    act: async (page) => {
      await press("Work out the step")(page);
      await page.getByRole("img", { name: /bars over/ }).waitFor({ timeout: 120_000 });
      await page.getByRole("heading", { name: "Where the time goes" }).evaluate((head) => head.scrollIntoView());
      await page.waitForTimeout(500);
    },
  },
  {
    name: "plan",
    address: "topology=ring:4&collective=allreduce&algorithm=ring&model=gpt2-small&batch=8&seq=256&accelerator=a100",
    act: async (page) => {
      await press("Search a plan")(page);
      const head = page.getByRole("heading", { name: "Where every tensor lies" });
      await head.waitFor({ timeout: 180_000 });
      await head.evaluate((element) => element.scrollIntoView());
      await page.waitForTimeout(500);
    },
  },
  {
    name: "dark",
    view: "time",
    colorScheme: "dark",
    address: "topology=torus:8x8&collective=allreduce&size=64MiB&algorithm=tacos",
    act: press(/^play/i),
  },
];

if (!(await setup({ forApp: true }))) process.exit(1);
mkdirSync(at(FOLDER), { recursive: true });
const server = await serveApp();
const browser = await chromium.launch({ executablePath: chromiumPath, args: CHROMIUM_ARGUMENTS });
const wanted = process.argv.slice(2);
for (const { name, view = name, address, colorScheme = "light", act } of SCENES) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const [size, viewport] of Object.entries(SIZES)) {
    const page = await browser.newPage({ viewport, colorScheme, reducedMotion: "no-preference" });
    page.on("pageerror", (error) => console.error(`${name}: ${error.message}`));
    await page.goto(`${server.url}#${address}&view=${view}&run=1`);
    await page.getByText("was verified").first().waitFor({ timeout: 60_000 });
    await page.waitForTimeout(1500);
    await act?.(page);
    if (size === "phone" && !["training", "plan"].includes(name))
      await page.getByRole("tablist").first().scrollIntoViewIfNeeded();
    const file = `${FOLDER}/${name}-${size}.png`;
    await page.screenshot({ path: at(file) });
    console.log(file);
    await page.close();
  }
}
await browser.close();
server.end();
