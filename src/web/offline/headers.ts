/** With these a page may have threads; a host that knows no headers does not send them. */
export const ISOLATION: Readonly<Record<string, string>> = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "same-origin",
};

/** Returns a response with the headers of isolation; the same one where it has them. */
export function isolated(response: Response): Response {
  // what comes from elsewhere cannot be read, let alone changed
  if (response.status === 0 || response.type === "opaque") return response;
  if (Object.entries(ISOLATION).every(([name, value]) => response.headers.get(name) === value)) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(ISOLATION)) headers.set(name, value);
  const { status, statusText } = response;
  const hasNoBody = [101, 204, 205, 304].includes(status);
  return new Response(hasNoBody ? null : response.body, { status, statusText, headers });
}
