import { describe, expect, it } from "vitest";
import { CancelledError } from "../../../src/base/errors.ts";
import { endingIn, turn } from "../../../src/base/stopping.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { Report } from "../../../src/report/result.ts";
import type { SynthesizeOptions } from "../../../src/request/options.ts";
import { contender } from "../../../src/run/auto/chunk-trials.ts";
import { algorithmNamed } from "../../../src/synthesize/catalog.ts";

const SIZE = { collective: "allgather", sizeBytes: 2 ** 20 } as const;

/** Returns a result that takes so long in simulated time; only what contenders look at is there. */
const madeIn = (us: number, chunks: number): { readonly report: Report } => ({
  report: {
    time: { us },
    limit: { us: 1 },
    collective: { chunksPerNpu: chunks },
    synthesis: { ms: 1, policy: "made" },
  } as unknown as Report,
});

/** Returns what contends if with so many chunks and more `stop` is waited for until the signal is heard. */
const contend = (
  slowFrom: number,
  signal: AbortSignal,
  stop: () => void = () => {},
): ReturnType<typeof contender<{ readonly report: Report }>> =>
  contender(
    algorithmNamed("tacos"),
    presetTopology("ring:4"),
    { ...SIZE, signal },
    async (asked: SynthesizeOptions) => {
      const { chunks, signal: heard } = asked;
      if (typeof chunks !== "number") throw new Error("chunks are asked for by number");
      if (chunks >= slowFrom) stop();
      while (chunks >= slowFrom) await turn(heard);
      return madeIn(100 - chunks, chunks);
    },
  );

describe("a search that tries numbers of chunks", () => {
  it("keeps what it made before its time was over", async () => {
    const { report, isCut } = await contend(4, endingIn(200));
    expect(isCut).toBe(true);
    expect(report.time.us).toBe(98);
    expect(report.synthesis.policy).toBe("made, 2 of 1, 2 chunks per NPU");
  });

  it("is whole where there was time for all", async () => {
    const { report, isCut } = await contend(1e9, endingIn(60_000));
    expect(isCut).toBeUndefined();
    expect(report.collective.chunksPerNpu).toBe(32);
  });

  it("has nothing where its time was over in the first trial", async () => {
    await expect(contend(1, endingIn(50))).rejects.toThrow(CancelledError);
  });

  it("ends with nothing where the caller stops it", async () => {
    const controller = new AbortController();
    const stop = (): void => controller.abort();
    await expect(contend(4, endingIn(60_000, controller.signal), stop)).rejects.toThrow(CancelledError);
    await expect(contend(4, AbortSignal.timeout(50))).rejects.toThrow(CancelledError);
  });
});
