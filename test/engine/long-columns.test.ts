import { describe, expect, it } from "vitest";
import { buffersOf, inBuffers, inViews, type WorkerReply, type WorkerResult } from "../../src/engine/pool/request.ts";

/** Returns the result as another thread gets it. */
function received(reply: WorkerReply): WorkerResult {
  const sent = structuredClone(inBuffers(reply), { transfer: buffersOf(reply) });
  if ("failure" in sent) throw new Error("a failure");
  return inViews(sent.result);
}

describe("columns of 4 GiB and more between threads", () => {
  it("keep their lengths and what they hold", () => {
    const chunk = new Int32Array(2 ** 30 + 5);
    chunk[2 ** 30 + 4] = 7;
    const result = received({ result: { chunk, slots: Int32Array.of(1, 2) } }) as {
      chunk: Int32Array;
      slots: Int32Array;
    };
    expect(result.chunk.length).toBe(2 ** 30 + 5);
    expect(result.chunk[2 ** 30 + 4]).toBe(7);
    expect(result.slots).toEqual(Int32Array.of(1, 2));
  });

  it("leave others as they are", () => {
    const reply = { result: { chunk: Uint16Array.of(1, 2), slots: Int32Array.of(3) } };
    expect(inBuffers(reply)).toBe(reply);
    expect(inViews(reply.result)).toBe(reply.result);
    expect(inBuffers({ failure: { message: "", fields: { name: "" } } })).toHaveProperty("failure");
  });
});
