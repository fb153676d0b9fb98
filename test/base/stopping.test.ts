import { describe, expect, it } from "vitest";
import { CancelledError } from "../../src/base/errors.ts";
import { endingIn, refuseStopped, turn } from "../../src/base/stopping.ts";

/** Keeps the thread, so that no timer is heard. */
function work(ms: number): void {
  const begun = performance.now();
  while (performance.now() - begun < ms);
}

describe("stopping", () => {
  it("is asked for by a time that ends while the thread works", () => {
    const signal = endingIn(5);
    refuseStopped(signal);
    work(10);
    expect(signal.aborted).toBe(false);
    expect(() => refuseStopped(signal)).toThrow(CancelledError);
  });

  it("is asked for by an earlier signal, and is heard in a turn", async () => {
    const own = new AbortController();
    const signal = endingIn(60_000, own.signal);
    await turn(signal);
    setTimeout(() => own.abort());
    await expect(turn(signal)).rejects.toThrow(CancelledError);
  });

  it("is not asked for before a time that is longer than timers are", async () => {
    const signal = endingIn(2 ** 32);
    work(5);
    await turn(signal);
    expect(signal.aborted).toBe(false);
  });

  it("is not asked for by no signal", async () => {
    refuseStopped(undefined);
    await turn();
    await turn(new AbortController().signal);
  });
});
