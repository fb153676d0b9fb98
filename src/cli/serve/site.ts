import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { COMMON_HEADERS, cacheControlOf, encodingFor, isLocalName } from "./headers.ts";
import { folderStore, segmentsOf } from "./stored-file.ts";

/** Where the user's own file is offered. */
export const INSIDE = "inside";
const NOT_FOUND = "no such file";

/** A file of the user's; read anew for each request. */
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
  readonly offered: OfferedFile | null;
  /** Requests must name this machine as such (by address or as localhost): nobody else is meant to come. */
  readonly localOnly: boolean;
}

const refuse = (response: ServerResponse, status: number, why: string, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { ...COMMON_HEADERS, "content-type": "text/plain; charset=utf-8", ...headers });
  response.end(response.req.method === "HEAD" ? undefined : `${why}\n`);
};

/** Returns the listener of a server for the app's files and one file of the user's. Only GET and HEAD are answered. */
export function siteListener({ folder, offered, localOnly }: Site): RequestListener {
  const find = folderStore(folder);

  async function sendStored(request: IncomingMessage, response: ServerResponse, segments: readonly string[]) {
    const file = await find(segments);
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
    const segments = segmentsOf(path === "/" ? "/index.html" : path);
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
