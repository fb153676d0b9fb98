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
export const cacheControlOf = (path: string): string =>
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
