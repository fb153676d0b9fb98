// Keeps two setups of one tree from building at the same time.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { paths } from "./paths.mjs";

const file = join(paths.state, "lock");

/** Waits until no other live process holds the lock, takes it, runs `work` and gives it back. */
export async function withLock(work) {
  mkdirSync(paths.state, { recursive: true });
  let told = false;
  while (!take()) {
    if (!told) console.log("setup: waiting for another setup of this tree");
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  const release = () => rmSync(file, { force: true });
  process.once("exit", release);
  try {
    return await work();
  } finally {
    process.off("exit", release);
    release();
  }
}

function take() {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    if (!holderLives()) rmSync(file, { force: true });
    return false;
  }
}

function holderLives() {
  try {
    const holder = Number(readFileSync(file, "utf8"));
    // Another process may be between creating the file and writing to it.
    if (holder === 0) return true;
    process.kill(holder, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
