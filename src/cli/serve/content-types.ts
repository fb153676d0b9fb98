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
export const isCompressible = (type: string): boolean => type.includes("charset=utf-8") || type === "application/wasm";
