import { describe, expect, it } from "vitest";
import { ISOLATION, isolated } from "../../../src/web/offline/headers.ts";

describe("headers of isolation", () => {
  it("are added to a response, which stays the same otherwise", async () => {
    const plain = new Response("body { }", {
      status: 203,
      statusText: "Kept",
      headers: { "content-type": "text/css" },
    });
    const answer = isolated(plain);
    expect(Object.fromEntries(answer.headers)).toEqual({ "content-type": "text/css", ...ISOLATION });
    expect([answer.status, answer.statusText, await answer.text()]).toEqual([203, "Kept", "body { }"]);
  });

  it("replace weaker ones", () => {
    const weak = new Response("", { headers: { "cross-origin-embedder-policy": "unsafe-none" } });
    expect(isolated(weak).headers.get("cross-origin-embedder-policy")).toBe("require-corp");
  });

  it("leave a response that has them, one without a body, and one that nobody may read", () => {
    const done = isolated(new Response("x"));
    expect(isolated(done)).toBe(done);
    expect(isolated(new Response(null, { status: 304 })).status).toBe(304);
    const opaque = Response.error();
    expect(isolated(opaque)).toBe(opaque);
  });
});
