import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex, Readable } from "node:stream";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { cacheText, evaluationsOf } from "../../../src/cli/files/search-cache.ts";
import { siteListener } from "../../../src/cli/serve/site.ts";
import { crc32 } from "../../../src/model/files/checksum.ts";
import {
  cayleyGraphs,
  circulants,
  closeCirculants,
  cubeConnectedCycles,
  EVALUATIONS_VERSION,
  generalizedKautz,
} from "../../../src/synthesize/finder/evaluated.ts";
import { type FuzzTarget, LawBroken, same } from "./target.ts";

/** Readers of the server and of what searches keep. */

const PUBLIC = "public ".repeat(200);
const SECRET = "secret, outside of what is served";
const OFFERED = '{"offered": true}';

/** Makes a folder that is served, with a file beside it that is not; it goes when the process ends. */
function servedFolder(): string {
  const root = mkdtempSync(join(tmpdir(), "banyan-served-"));
  process.once("exit", () => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, "site");
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(root, "secret.txt"), SECRET);
  writeFileSync(join(folder, ".hidden"), SECRET);
  symlinkSync(join(root, "secret.txt"), join(folder, "leads-out.txt"));
  for (const name of ["index.html", "assets/a-0a1b.js", "k.wasm"]) writeFileSync(join(folder, name), PUBLIC);
  return folder;
}

interface Answered {
  readonly status: number;
  /** Lines of the head, in lower case. */
  readonly head: string;
  readonly body: Buffer;
}

/** Returns a request's answer as it goes out. A request is a line of method and address, and a line for each header. */
function answerTo(listener: ReturnType<typeof siteListener>, text: string): Promise<Answered> {
  const [first = "", ...rest] = text.split("\n");
  const [method = "", url = ""] = first.split(" ");
  const headers = Object.fromEntries(
    rest.flatMap((line) => {
      const cut = line.indexOf(":");
      return cut < 1 ? [] : [[line.slice(0, cut).trim().toLowerCase(), line.slice(cut + 1).trim()]];
    }),
  );
  const request = Object.assign(new IncomingMessage(new Socket()), { method, url, headers });
  const response = new ServerResponse(request);
  const parts: Buffer[] = [];
  const sink = new Duplex({
    read() {},
    write(part: Buffer, _, done) {
      parts.push(part);
      done();
    },
  });
  response.assignSocket(sink as Socket);
  return new Promise((resolve) => {
    const end = (): void => {
      const whole = Buffer.concat(parts);
      const cut = whole.indexOf("\r\n\r\n");
      const head = whole.toString("latin1", 0, cut).toLowerCase();
      resolve({ status: response.statusCode, head, body: whole.subarray(cut + 4) });
    };
    response.on("close", end).on("finish", end);
    listener(request, response);
  });
}

const STATUSES = new Set([200, 304, 403, 404, 405]);

async function checkHttp(listener: ReturnType<typeof siteListener>, text: string): Promise<void> {
  const { status, head, body } = await answerTo(listener, text);
  if (!STATUSES.has(status)) throw new LawBroken(`status ${status}: ${body.toString("latin1").slice(0, 200)}`);
  if (!head.includes("\r\nx-content-type-options: nosniff\r\n"))
    throw new LawBroken("an answer without the common headers");
  if (status !== 200 || text.startsWith("HEAD ")) return;
  const encoding = /\r\ncontent-encoding: (\w+)/.exec(head)?.[1];
  const plain = encoding === "br" ? brotliDecompressSync(body) : encoding === "gzip" ? gunzipSync(body) : body;
  const content = plain.toString("latin1");
  if (content !== PUBLIC && !content.includes(OFFERED))
    throw new LawBroken(`what is not served: ${content.slice(0, 80)}`);
}

/** Nothing is computed anew: only what a cache holds is looked at. */
const balancer = (): never => {
  throw new NotKept();
};
class NotKept extends Error {}

/** Looks up all that a cache may hold, as searches do. `entries` get the checksum that a cache has. */
async function checkCache(entries: string): Promise<void> {
  const line = `banyan networks ${EVALUATIONS_VERSION} ${crc32(new TextEncoder().encode(entries.trimEnd()))}\n`;
  for (const text of [entries, line + entries]) {
    const kept = evaluationsOf(text);
    if (kept === null) continue;
    same(cacheText(kept), cacheText(evaluationsOf(cacheText(kept)) ?? new Map()), "a cache");
    const known = () => new Map(kept);
    for (const look of [
      () => circulants(8, 4, true, known(), balancer as never),
      () => circulants(8, 2, false, known(), balancer as never),
      () => cayleyGraphs(8, 2, false, known(), balancer as never),
      () => cayleyGraphs(8, 3, true, known(), balancer as never),
      () => closeCirculants(8, 2, known(), balancer as never),
      () => cubeConnectedCycles(24, 3, known(), balancer as never),
      () => generalizedKautz(9, 2, [], known(), balancer as never),
    ])
      await look().catch((error: unknown) => {
        if (!(error instanceof NotKept)) throw error;
      });
  }
}

const KEPT = [
  ["C 8 4", [{ family: "C", parameters: [8, 1, 3], lines: 0, steps: 2, bandwidth: "7/8" }]],
  [
    "DC 8 2",
    [
      { family: "DC", parameters: [8, 1, 3], lines: 0, steps: 3, bandwidth: "9/8" },
      { family: "DC", parameters: [4, 1, 2], lines: 1, steps: 3, bandwidth: "1" },
    ],
  ],
  ["Cayley 8 2", [{ family: "Cayley", parameters: [8, 3, 1, 2], lines: 0, steps: 3, bandwidth: "7/8" }]],
  ["Pi 9 2", [{ family: "Pi", parameters: [2, 9], lines: 0, steps: 3, bandwidth: "1" }]],
];

export function serverTargets(): FuzzTarget[] {
  let listener: ReturnType<typeof siteListener> | undefined;
  const listening = (): ReturnType<typeof siteListener> => {
    const size = () => Buffer.byteLength(OFFERED);
    const offered = { name: "my topo.json", size, open: () => Readable.from([OFFERED]) };
    listener ??= siteListener({ folder: servedFolder(), docs: null, offered, localOnly: true });
    return listener;
  };
  return [
    {
      name: "http",
      seeds: () => [
        "GET / \nhost: localhost:8420\naccept-encoding: gzip, br;q=0.5",
        'GET /assets/a-0a1b.js?x#y\nhost: 127.0.0.1\nif-none-match: "a", "b"\naccept-encoding: *;q=0',
        "HEAD /inside/my%20topo.json\nhost: [::1]:80",
        "GET /inside/my%20topo.json\nhost: app.localhost",
        "GET /../secret.txt\nhost: localhost",
        "GET /leads-out.txt\nhost: localhost",
        "POST /.hidden\nhost: example.org",
        "GET /k.wasm\nhost: localhost\naccept-encoding: br",
      ],
      check: (text) => checkHttp(listening(), text),
    },
    { name: "search-cache", seeds: () => [JSON.stringify(KEPT), "[]"], check: checkCache },
  ];
}
