import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { COMMON_HEADERS, contentTypeOf } from "../../src/cli/serve/site.ts";

/** A host that serves files from memory, and can change and go away. */

/** What `banyan serve` sends. */
export const STRICT = COMMON_HEADERS;

export interface Host {
  readonly url: string;
  /** Paths that were asked for, in order. */
  readonly asked: string[];
  /** Serves other files from now on. */
  offer(files: ReadonlyMap<string, string | Uint8Array>): void;
  close(): void;
}

/** Serves files from memory on this machine; by default with the headers of `banyan serve`. */
export async function host(
  files: ReadonlyMap<string, string | Uint8Array>,
  headers: Readonly<Record<string, string>> = STRICT,
): Promise<Host> {
  const asked: string[] = [];
  let offered = files;
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://host").pathname);
    asked.push(path);
    const body = offered.get(path === "/" ? "/index.html" : path);
    const type = contentTypeOf(path === "/" ? "/index.html" : path);
    response.writeHead(body === undefined ? 404 : 200, { ...headers, "content-type": type });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    asked,
    offer: (next) => {
      offered = next;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
