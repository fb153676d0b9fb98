import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { encodingFor, isLocalName, segmentsOf, siteListener } from "../../src/cli/serve/site.ts";
import { readAddress } from "../../src/web/state/address.ts";
import { banyan, cliFolder, MAIN } from "../support/cli.ts";

const folder = cliFolder();
const SCRIPT = `${"export const leaves = 'many';\n".repeat(200)}`;
const env = (): NodeJS.ProcessEnv => ({ BANYAN_APP: folder.at("app") });
const running: ChildProcess[] = [];
const servers: Server[] = [];

beforeAll(() => {
  mkdirSync(folder.at("app/assets"), { recursive: true });
  writeFileSync(folder.at("app/index.html"), "<!doctype html><title>app</title>");
  writeFileSync(folder.at("app/assets/page-0a1b.js"), SCRIPT);
  writeFileSync(folder.at("app/assets/k.wasm"), new Uint8Array(4096));
  writeFileSync(folder.at("app/app.webmanifest"), "{}");
  writeFileSync(folder.at("app/.hidden"), "secret");
  writeFileSync(folder.at("outside.txt"), "secret");
  symlinkSync(folder.at("outside.txt"), folder.at("app/leads-out.txt"));
  writeFileSync(folder.at("my topo.json"), '{"format": "any"}');
});

afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
  for (const server of servers.splice(0)) server.close();
});

interface Served {
  readonly address: string;
  readonly port: number;
  readonly file: string | null;
  /** Interrupts it; resolves with exit code and standard error. */
  readonly end: () => Promise<{ code: number | null; err: string }>;
}

/** Starts `banyan serve ... --json` and waits until it has said where it is. */
function serve(args: readonly string[] = [], input?: string): Promise<Served> {
  const child = spawn(process.execPath, [MAIN, "serve", ...args, "--json"], {
    cwd: folder.at(),
    env: { ...process.env, ...env() },
  });
  running.push(child);
  child.stdin.end(input);
  let [out, err] = ["", ""];
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
  const end = async () => {
    child.kill("SIGINT");
    return { code: await closed, err };
  };
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      if (out.endsWith("}\n")) resolve({ ...JSON.parse(out), end });
    });
    void closed.then((code) => reject(new Error(`ended with ${code}: ${err}`)));
  });
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Asks for a path as it is written, dots included. */
function ask(port: number, path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, headers, method, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }),
      );
    });
    asked.on("error", reject);
    asked.end();
  });
}

describe("banyan serve", () => {
  it("serves the app so that it may have threads, and nothing that it does not need", async () => {
    const { address, port, end } = await serve(["--port", "0"]);
    expect(address).toBe(`http://127.0.0.1:${port}/`);
    const { status, headers, body } = await ask(port, "/?x=1");
    expect([status, body.toString()]).toEqual([200, "<!doctype html><title>app</title>"]);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-embedder-policy": "require-corp",
      "cross-origin-resource-policy": "same-origin",
      "x-content-type-options": "nosniff",
    });
    const policy = headers["content-security-policy"];
    for (const rule of ["default-src 'self'", "script-src 'self' 'wasm-unsafe-eval'", "frame-ancestors 'none'"])
      expect(policy).toContain(rule);
    expect(policy).not.toMatch(/script-src[^;]*'unsafe-(inline|eval)'|https?:|\*/);
    expect(await end()).toEqual({ code: 0, err: "" });
  });

  it("shows the documentation at /docs/, where it is built, under the same policy", async () => {
    mkdirSync(folder.at("pages/guide"), { recursive: true });
    writeFileSync(folder.at("pages/index.html"), "<!doctype html><title>pages</title>");
    writeFileSync(folder.at("pages/guide/index.html"), "<!doctype html><title>guide</title>");
    symlinkSync(folder.at("outside.txt"), folder.at("pages/leads-out.txt"));
    const site = { folder: folder.at("app"), offered: null, localOnly: true };
    const open = async (docs: string | null) => {
      const server = createServer(siteListener({ ...site, docs })).listen(0, "127.0.0.1");
      servers.push(server);
      await once(server, "listening");
      return (server.address() as AddressInfo).port;
    };
    const port = await open(folder.at("pages"));
    const moved = await ask(port, "/docs");
    expect([moved.status, moved.headers.location]).toEqual([308, "/docs/"]);
    const texts = await Promise.all(
      ["/docs/", "/docs/guide/", "/"].map(async (path) => String((await ask(port, path)).body)),
    );
    expect(texts.map((text) => /<title>(.*)</.exec(text)?.[1])).toEqual(["pages", "guide", "app"]);
    expect((await ask(port, "/docs/")).headers["content-security-policy"]).toContain(
      "script-src 'self' 'wasm-unsafe-eval'",
    );
    for (const path of [
      "/docs/leads-out.txt",
      "/docs/../outside.txt",
      "/docs/%2e%2e/app/index.html",
      "/docs/none.html",
    ])
      expect([path, (await ask(port, path)).status]).toEqual([path, 404]);
    const without = await open(null);
    expect((await ask(without, "/docs/")).status).toBe(404);
  });

  it("gives each file its type, and those with a hash in their name for ever", async () => {
    const { port } = await serve(["--port", "0"]);
    const typeAndCache = async (path: string) => {
      const { headers } = await ask(port, path);
      return [headers["content-type"], headers["cache-control"]];
    };
    const forever = "public, max-age=31536000, immutable";
    expect(await typeAndCache("/assets/page-0a1b.js")).toEqual(["text/javascript; charset=utf-8", forever]);
    expect(await typeAndCache("/assets/k.wasm")).toEqual(["application/wasm", forever]);
    expect(await typeAndCache("/app.webmanifest")).toEqual(["application/manifest+json; charset=utf-8", "no-cache"]);
  });

  it("compresses as the browser likes it, and says what has not changed", async () => {
    const { port } = await serve(["--port", "0"]);
    const path = "/assets/page-0a1b.js";
    const br = await ask(port, path, { "accept-encoding": "gzip, br" });
    const gzip = await ask(port, path, { "accept-encoding": "gzip, br;q=0" });
    const plain = await ask(port, path);
    expect([br, gzip, plain].map(({ headers }) => headers["content-encoding"])).toEqual(["br", "gzip", undefined]);
    const texts = [brotliDecompressSync(br.body), gunzipSync(gzip.body), plain.body].map(String);
    expect(texts).toEqual([SCRIPT, SCRIPT, SCRIPT]);
    expect(br.headers.vary).toBe("accept-encoding");
    const again = await ask(port, path, { "if-none-match": plain.headers.etag as string });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    writeFileSync(folder.at("app/index.html"), "<!doctype html><title>built anew</title>");
    expect((await ask(port, "/")).body.toString()).toContain("built anew");
    writeFileSync(folder.at("app/index.html"), "<!doctype html><title>app</title>");
  });

  it("answers HEAD without a body, other methods with 405, and what is not there with 404", async () => {
    const { port } = await serve(["--port", "0"]);
    const head = await ask(port, "/assets/k.wasm", {}, "HEAD");
    expect([head.status, head.headers["content-length"], head.body.length]).toEqual([200, "4096", 0]);
    const post = await ask(port, "/", {}, "POST");
    expect([post.status, post.headers.allow]).toEqual([405, "GET, HEAD"]);
    const paths = ["/none.js", "/assets", "/assets/", "/%zz", "/index.html/more", "/inside/my%20topo.json", "//"];
    for (const path of paths) expect([path, (await ask(port, path)).status]).toEqual([path, 404]);
  });

  it("gives nothing from outside its folder", async () => {
    const { port } = await serve(["--port", "0"]);
    const paths = ["/../outside.txt", "/assets/../../outside.txt", "/%2e%2e/outside.txt", "/..%2foutside.txt"];
    for (const path of [...paths, "/..%5coutside.txt", "/leads-out.txt", "/.hidden", "/outside.txt%00.js"]) {
      const { status, body } = await ask(port, path);
      expect([path, status]).toEqual([path, 404]);
      expect(body.toString()).not.toContain("secret");
    }
  });

  it("is for this machine: another name that leads here is refused", async () => {
    const { port } = await serve(["--port", "0"]);
    expect((await ask(port, "/", { host: "pages.example" })).status).toBe(403);
    expect((await ask(port, "/", { host: `localhost:${port}` })).status).toBe(200);
  });

  it("offers one file, as it is when asked for", async () => {
    const { address, port, file } = await serve(["my topo.json", "--port", "0"]);
    const site = `http://127.0.0.1:${port}/`;
    expect([address, file]).toEqual([`${site}#open=my%20topo.json`, `${site}inside/my%20topo.json`]);
    const { status, headers, body } = await ask(port, "/inside/my%20topo.json");
    expect([status, headers["cache-control"], body.toString()]).toEqual([200, "no-store", '{"format": "any"}']);
    writeFileSync(folder.at("my topo.json"), "{}");
    expect((await ask(port, "/inside/my%20topo.json")).body.toString()).toBe("{}");
    rmSync(folder.at("my topo.json"));
    expect((await ask(port, "/inside/my%20topo.json")).status).toBe(404);
    writeFileSync(folder.at("my topo.json"), '{"format": "any"}');
    expect((await ask(port, "/inside/outside.txt")).status).toBe(404);
  });

  it("opens the app with the network of a preset, unless a file has its name", async () => {
    const { address, port, file } = await serve(["torus:4x4@25GB/s", "--port", "0"]);
    const [site, fragment = ""] = address.split("#");
    expect([site, file]).toEqual([`http://127.0.0.1:${port}/`, null]);
    expect(readAddress(fragment)).toMatchObject({ topology: "torus:4x4@25GB/s", open: null, complaints: [] });
    writeFileSync(folder.at("dgx1"), "{}");
    expect((await serve(["dgx1", "--port", "0"])).address).toMatch(/#open=dgx1$/);
  });

  it("offers what comes on standard input", async () => {
    const { address, port } = await serve(["-", "--port", "0"], "GPU0 GPU1");
    expect(address).toBe(`http://127.0.0.1:${port}/#open=input`);
    for (let time = 0; time < 2; time++) expect((await ask(port, "/inside/input")).body.toString()).toBe("GPU0 GPU1");
  });

  it("takes the next port where its own is taken, but not another than asked for", async () => {
    const first = await serve();
    const second = await serve();
    expect(second.port).toBeGreaterThan(first.port);
    const { code, out, err } = await banyan(["serve", "--port", String(first.port)], { env: env() });
    expect([code, out, err]).toEqual([2, "", `banyan: --port is ${first.port}; it must be a free port\n`]);
  });

  it.each([
    [["--port", "65536"], /^banyan: --port is 65536; it must be a port, 0 to 65535\n$/],
    [["--port", "web"], /^banyan: --port is "web"; it must be a whole number, 0 or more\n$/],
    [
      ["--port", "0", "--host", "256.1.1.1"],
      /^banyan: --host is 256\.1\.1\.1; it must be an address of this machine \(.+\)\n$/,
    ],
    [
      ["--port", "0", "--host", "192.0.2.7"],
      /^banyan: --host is 192\.0\.2\.7; it must be an address of this machine \(.+\)\n$/,
    ],
    [["no-such-file.json"], /^banyan: there is no file "no-such-file.json" \(FILE\)\n$/],
    [["mesh:4x"], /^banyan: mesh:4x lacks a size behind its last x\n$/],
    [["."], /^banyan: FILE is "\."; it must be a file, not a folder(?:, such as ".+")?\n$/],
  ] as const)("refuses %j in one sentence", async (args, sentence) => {
    const { code, out, err } = await banyan(["serve", ...args], { env: env(), cwd: folder.at() });
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(sentence);
  });

  it("says how the app is built where it is not", async () => {
    const { code, err } = await banyan(["serve"], { env: { BANYAN_APP: folder.at("nothing") } });
    expect([code, err]).toEqual([2, "banyan: serve lacks the built app in dist-web/ (`npm run build:web` makes it)\n"]);
  });
});

describe("what a request accepts", () => {
  it.each([
    [undefined, null],
    ["", null],
    ["gzip", "gzip"],
    ["gzip, deflate, br", "br"],
    ["br;q=0, gzip;q=0.5", "gzip"],
    ["BR ; q=0.1", "br"],
    ["*", "br"],
    ["*;q=0", null],
    ["identity", null],
  ])("%j: %j", (accepted, encoding) => {
    expect(encodingFor(accepted)).toBe(encoding);
  });
});

describe("names of this machine", () => {
  it.each(["127.0.0.1:8420", "localhost", "app.localhost:1", "[::1]:8420", "10.0.0.2"])("%s is one", (host) => {
    expect(isLocalName(host)).toBe(true);
  });

  it.each([undefined, "", "localhost.example", "example:8420", "127.0.0.1.example", "notlocalhost"])(
    "%s is none",
    (host) => {
      expect(isLocalName(host)).toBe(false);
    },
  );
});

describe("paths", () => {
  it("are taken apart where they lead down", () => {
    expect(segmentsOf("/assets/a b.js")).toEqual(["assets", "a b.js"]);
  });

  it.each(["", "x", "/", "/a/", "//a", "/.", "/a/../b", "/.git/config", "/a\\b", "/c:", "/a\0"])(
    "%j is refused",
    (path) => {
      expect(segmentsOf(path)).toBeNull();
    },
  );
});
