// `banyan serve` whose n-th call of the system on the files that it serves fails, for every n: each request is answered, by
// the file, by what is wrong, or by the end of its connection; the server goes on, gives the right bytes to the next request,
// and no file stays open.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FaultPage, KINDS, WAYS } from "./faults-page.mjs";

const MAIN = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const WAYS_TRIED = ["EIO", "EMFILE", "ENOMEM", "EINTR", "short"];
const MOST_CALLS = 60;
const REQUEST_MS = 20_000;

/** Returns the status and the text of an answer; status 0 where the connection ended. */
async function asked(address) {
  try {
    const response = await fetch(address, {
      signal: AbortSignal.timeout(REQUEST_MS),
      headers: { connection: "close" },
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    return { status: error?.name === "TimeoutError" ? -1 : 0, text: "" };
  }
}

/** Serves a folder and a file with faults. Returns how many requests met one; gives what is wrong to `onFault`. */
export async function serveWithFaults({ library, root, share = 1, onFault }) {
  const folder = join(root, "work");
  const pagePath = join(root, "served");
  mkdirSync(folder, { recursive: true });
  const texts = { "/index.html": "<p>page</p>\n".repeat(100), "/inside/net.json": "{}\n".repeat(50_000) };
  writeFileSync(join(folder, "index.html"), texts["/index.html"]);
  writeFileSync(join(folder, "net.json"), texts["/inside/net.json"]);
  const page = new FaultPage(pagePath);
  const env = {
    ...process.env,
    LD_PRELOAD: library,
    BANYAN_FAULTS: pagePath,
    BANYAN_FAULTS_PATHS: folder,
    BANYAN_APP: folder,
  };
  const server = spawn(process.execPath, [MAIN, "serve", join(folder, "net.json"), "--port", "0", "--json"], { env });
  let [out, err] = ["", ""];
  server.stderr.on("data", (text) => {
    err += text;
  });
  const { port } = await new Promise((resolve, reject) => {
    server.on("exit", (code) => reject(new Error(`serve ends with ${code}: ${err}`)));
    server.stdout.on("data", (text) => {
      out += text;
      if (out.trimEnd().endsWith("}")) resolve(JSON.parse(out));
    });
  });
  server.removeAllListeners("exit");
  const openFiles = () =>
    readdirSync(`/proc/${server.pid}/fd`).filter((fd) => {
      try {
        return readlinkSync(`/proc/${server.pid}/fd/${fd}`).startsWith(folder);
      } catch {
        return false;
      }
    }).length;
  const counts = { requests: 0, met: 0, told: 0, ended: 0 };
  const openBefore = openFiles();
  for (const [path, text] of Object.entries(texts)) {
    for (const way of WAYS_TRIED.slice(0, Math.ceil(WAYS_TRIED.length * share))) {
      for (let n = 1; n < MOST_CALLS; n++) {
        writeFileSync(join(folder, "index.html"), texts["/index.html"]); // else it is kept in memory
        page.arm(KINDS.files, { first: n, how: WAYS[way] });
        const answer = await asked(`http://127.0.0.1:${port}${path}`);
        page.disarm();
        const { fired, what } = page.read();
        counts.requests++;
        const say = (why) => onFault(`serve ${path}, call ${n} (${what}) by ${way}: ${why}`);
        if (answer.status === 200 && answer.text !== text) say("the wrong bytes");
        if (answer.status === -1) say("no answer");
        if (answer.status === 404) say("is called missing");
        if (answer.status === 500) counts.told++;
        if (answer.status === 0) counts.ended++;
        if (server.exitCode !== null) {
          onFault(`serve ends: ${err}`);
          return { ...counts, code: server.exitCode };
        }
        const next = await asked(`http://127.0.0.1:${port}${path}`);
        if (next.text !== text) say(`the next request is answered with ${next.status}`);
        if (fired === 0) break;
        counts.met++;
      }
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  if (openFiles() > openBefore) onFault(`serve: ${openFiles() - openBefore} files stay open`);
  server.kill("SIGINT");
  const code = await new Promise((resolve) => server.on("exit", resolve));
  page.close();
  return { ...counts, code };
}
