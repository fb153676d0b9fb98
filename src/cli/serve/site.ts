import { createHash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { join, sep } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** Where the user's own file is offered. */
export const INSIDE = "inside";
/** Where the documentation is. */
export const DOCS = "docs";
const NOT_FOUND = "no such file";

/** A file of the user's; read again for each request. */
export interface OfferedFile {
  readonly name: string;
  /** Bytes, so that a browser sees where not all of them came. Throws as `open` does. */
  size(): number;
  /** Throws the system's error where it is there no longer. */
  open(): Readable;
}

/** Returns a path without its percent signs; empty, which is no path, where they are wrong. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return "";
  }
}

export interface Site {
  /** The built app. */
  readonly folder: string;
  /** The built documentation, at /docs/; null where there is none. */
  readonly docs: string | null;
  readonly offered: OfferedFile | null;
  /** Requests must name this machine as such (by address or as localhost): nobody else is meant to come. */
  readonly localOnly: boolean;
}

const refuse = (response: ServerResponse, status: number, why: string, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { ...COMMON_HEADERS, "content-type": "text/plain; charset=utf-8", ...headers });
  response.end(response.req.method === "HEAD" ? undefined : `${why}\n`);
};

/** Returns the listener of a server for the app's files and one file of the user's. Only GET and HEAD are answered. */
export function siteListener({ folder, docs, offered, localOnly }: Site): RequestListener {
  const find = folderStore(folder);
  const findDocs = docs === null ? null : folderStore(docs);

  /** Returns the file of a path, of the documentation where it is below /docs/. */
  const stored = (segments: readonly string[]): Promise<StoredFile | null> =>
    findDocs !== null && segments[0] === DOCS ? findDocs(segments.slice(1)) : find(segments);

  async function sendStored(request: IncomingMessage, response: ServerResponse, segments: readonly string[]) {
    const file = await stored(segments);
    if (file === null) return refuse(response, 404, NOT_FOUND);
    const { type, tag, canCompress, plain } = file;
    const encoding = canCompress ? encodingFor(request.headers["accept-encoding"]) : null;
    const etag = `"${tag}${encoding === null ? "" : `-${encoding}`}"`;
    const headers = {
      ...COMMON_HEADERS,
      "cache-control": cacheControlOf(segments.join("/")),
      etag,
      ...(canCompress && { vary: "accept-encoding" }),
    };
    if (request.headers["if-none-match"]?.split(/\s*,\s*/).includes(etag)) {
      response.writeHead(304, headers).end();
      return;
    }
    const body = encoding === null ? plain : await file.encoded(encoding);
    response.writeHead(200, {
      ...headers,
      "content-type": type,
      "content-length": body.length,
      ...(encoding !== null && body !== plain && { "content-encoding": encoding }),
    });
    response.end(request.method === "HEAD" ? undefined : body);
  }

  async function sendOffered(request: IncomingMessage, response: ServerResponse, file: OfferedFile) {
    const size = file.size();
    const stream = file.open();
    const headers = {
      ...COMMON_HEADERS,
      "cache-control": "no-store",
      "content-type": "application/octet-stream",
      "content-length": size,
    };
    if (request.method === "HEAD") {
      stream.on("error", () => {}).destroy();
      response.writeHead(200, headers).end();
      return;
    }
    response.writeHead(200, headers);
    await pipeline(stream, response);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (localOnly && !isLocalName(request.headers.host))
      return refuse(response, 403, "this server is for localhost only");
    if (request.method !== "GET" && request.method !== "HEAD")
      return refuse(response, 405, "only GET and HEAD", { allow: "GET, HEAD", connection: "close" });
    const path = decoded((request.url ?? "").split(/[?#]/, 1)[0] as string);
    if (offered !== null && path === `/${INSIDE}/${offered.name}`) return sendOffered(request, response, offered);
    // its pages find each other from their folder
    if (findDocs !== null && path === `/${DOCS}`)
      return refuse(response, 308, "the documentation", { location: `/${DOCS}/` });
    const isFolder = path === "/" || (findDocs !== null && path.startsWith(`/${DOCS}/`) && path.endsWith("/"));
    const segments = segmentsOf(isFolder ? `${path}index.html` : path);
    if (segments === null) return refuse(response, 404, NOT_FOUND);
    return sendStored(request, response, segments);
  }

  return (request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else if ((error as NodeJS.ErrnoException).code === "ENOENT") refuse(response, 404, NOT_FOUND);
      else refuse(response, 500, error instanceof Error ? error.message : String(error));
    });
  };
}

/** What the page may do: its own scripts and workers, WebAssembly, no other server, no frame around it. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self' blob:",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Headers of every answer. The first three let the page share memory with its workers, so that it has threads. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** Files whose names hold a hash of their content stay as they are; all others are asked for again. */
const cacheControlOf = (path: string): string =>
  path.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";

/** Returns the best encoding that a request accepts: br, gzip, or none. */
export function encodingFor(accepted: string | undefined): "br" | "gzip" | null {
  const weights = new Map<string, number>();
  for (const part of (accepted ?? "").split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const weight = parameters.find((text) => text.startsWith("q="));
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  const isAccepted = (name: string): boolean => (weights.get(name) ?? weights.get("*") ?? 0) > 0;
  return isAccepted("br") ? "br" : isAccepted("gzip") ? "gzip" : null;
}

/**
 * Returns whether a request's Host names this machine as such: by address, or as localhost. A name of somebody's domain that
 * was made to point here would let its pages read what is served.
 */
export function isLocalName(host: string | undefined): boolean {
  const name = (host ?? "").replace(/:\d+$/, "").toLowerCase();
  return /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\]|(?:[^.]+\.)*localhost)$/.test(name);
}

/** Smaller ones gain nothing. */
const COMPRESS_FROM = 512;
/** A tenth of a second for a megabyte: the browser that waits for it is near. */
const BROTLI_QUALITY = 5;

/** What the system says of names that lead to no file of the folder; all else is a fault of this machine. */
const NO_FILE: ReadonlySet<string | undefined> = new Set([
  "ENOENT",
  "ENOTDIR",
  "EISDIR",
  "ELOOP",
  "ENAMETOOLONG",
  "EACCES",
  "EPERM",
]);

/** A file in memory; what is compressed is made at the first request for it. */
interface StoredFile {
  readonly type: string;
  readonly tag: string;
  readonly canCompress: boolean;
  readonly plain: Uint8Array;
  /** Smaller than `plain`, or `plain` itself. */
  encoded(encoding: "br" | "gzip"): Promise<Uint8Array>;
}

/** Returns the segments of a decoded path; null for one that leads anywhere but down into visible files. */
export function segmentsOf(path: string): readonly string[] | null {
  const segments = path.split("/").slice(1);
  const isPlain = (name: string): boolean => name !== "" && !name.startsWith(".") && !/[\\\0:]/.test(name);
  return path.startsWith("/") && segments.every(isPlain) ? segments : null;
}

function storedFile(name: string, plain: Uint8Array): StoredFile {
  const type = contentTypeOf(name);
  const made = new Map<string, Promise<Uint8Array>>();
  const compress = async (encoding: "br" | "gzip"): Promise<Uint8Array> => {
    const small =
      encoding === "gzip"
        ? await promisify(gzip)(plain)
        : await promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
    return small.length < plain.length ? small : plain;
  };
  return {
    type,
    tag: createHash("sha256").update(plain).digest("base64url").slice(0, 22),
    canCompress: isCompressible(type) && plain.length >= COMPRESS_FROM,
    plain,
    encoded(encoding) {
      const known = made.get(encoding) ?? compress(encoding);
      made.set(encoding, known);
      known.catch(() => made.delete(encoding));
      return known;
    },
  };
}

/**
 * Returns what gives the file of a path below a folder, as segments, from memory while it has not changed on disk; null where
 * there is none, or where links lead out of the folder.
 */
function folderStore(folder: string): (segments: readonly string[]) => Promise<StoredFile | null> {
  const known = new Map<string, { readonly stamp: string; readonly file: StoredFile }>();
  return async (segments) => {
    try {
      const path = await realpath(join(folder, ...segments));
      if (!path.startsWith((await realpath(folder)) + sep)) return null;
      const facts = await stat(path);
      if (!facts.isFile()) return null;
      const stamp = `${facts.mtimeMs} ${facts.size}`;
      const before = known.get(path);
      if (before?.stamp === stamp) return before.file;
      const plain = await readFile(path);
      // Node takes a read that is cut short for the end of the file.
      if (plain.length !== facts.size) throw new Error(`${segments.join("/")} was not read to its end; try again`);
      const file = storedFile(path, plain);
      known.set(path, { stamp, file });
      return file;
    } catch (error) {
      if (NO_FILE.has((error as NodeJS.ErrnoException).code)) return null;
      throw error;
    }
  };
}

/** Types of files by their suffix; texts are UTF-8. */
const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    css: "text/css; charset=utf-8",
    csv: "text/csv; charset=utf-8",
    html: "text/html; charset=utf-8",
    ico: "image/x-icon",
    js: "text/javascript; charset=utf-8",
    json: "application/json; charset=utf-8",
    map: "application/json; charset=utf-8",
    mjs: "text/javascript; charset=utf-8",
    png: "image/png",
    svg: "image/svg+xml; charset=utf-8",
    txt: "text/plain; charset=utf-8",
    wasm: "application/wasm",
    webmanifest: "application/manifest+json; charset=utf-8",
    webp: "image/webp",
    woff2: "font/woff2",
    xml: "application/xml; charset=utf-8",
  }),
);

/** Returns the content type of a file by its name. */
export function contentTypeOf(name: string): string {
  const suffix = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return TYPES.get(suffix) ?? "application/octet-stream";
}

/** Returns whether a type gets smaller by compression. */
const isCompressible = (type: string): boolean => type.includes("charset=utf-8") || type === "application/wasm";
