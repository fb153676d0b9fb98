import { describe, expect, it } from "vitest";
import { random } from "../../../../src/base/random.ts";
import type { HopsView } from "../../../../src/web/protocol.ts";
import { begunAt, Fill, heldAt, heldBy, holdingsOf, UnderWay } from "../../../../src/web/views/time/holdings.ts";
import { randomHops } from "./random-hops.ts";

/** Returns whose contributions of a chunk an NPU holds at a time, from all hops, one by one. */
function contributions(hops: HopsView, npu: number, chunk: number, time: number): Set<number> {
  const own = hops.held.subarray(hops.heldOffset[npu], hops.heldOffset[npu + 1]).includes(chunk);
  let held = new Set<number>(own ? [npu] : []);
  for (let i = 0; i < hops.chunk.length; i++) {
    if (hops.chunk[i] !== chunk || hops.target[i] !== npu || hops.endPs[i] > time) continue;
    const sent = contributions(hops, hops.source[i], chunk, hops.startPs[i]);
    held = hops.reduces[i] === 1 ? new Set([...held, ...sent]) : sent;
  }
  return held;
}

const problems = Array.from({ length: 12 }, (_, seed) => {
  const draw = random(seed + 1);
  const npus = 2 + draw.below(6);
  return { npus, hops: randomHops(draw, npus, 1 + draw.below(6)) };
});
const times = (hops: HopsView): number[] => Array.from({ length: hops.totalPs * 2 + 3 }, (_, i) => (i - 1) / 2);

describe("holdings", () => {
  it("are what replaying every hop gives, by chunk and by NPU", () => {
    for (const { npus, hops } of problems) {
      const holdings = holdingsOf(hops, npus);
      for (const time of times(hops)) {
        const brute = Array.from({ length: npus }, (_, npu) =>
          Array.from({ length: hops.chunkCount }, (_, chunk) => contributions(hops, npu, chunk, time).size),
        );
        for (let npu = 0; npu < npus; npu++) expect([...heldBy(holdings, npu, time)]).toEqual(brute[npu]);
        for (let chunk = 0; chunk < hops.chunkCount; chunk++) {
          expect([...heldAt(holdings, chunk, time)]).toEqual(brute.map((row) => row[chunk]));
        }
      }
    }
  });

  it("fill NPUs by the share of what they want, forwards, backwards and in jumps", () => {
    for (const { npus, hops } of problems) {
      const holdings = holdingsOf(hops, npus);
      const fill = new Fill(holdings);
      const forwards = times(hops);
      const jumps = forwards.map((_, i) => forwards[(i * 7) % forwards.length]);
      for (const time of [...forwards, ...[...forwards].reverse(), ...jumps]) {
        const shares = fill.at(time);
        for (let npu = 0; npu < npus; npu++) {
          const wanted = [...hops.wanted.subarray(hops.wantedOffset[npu], hops.wantedOffset[npu + 1])];
          const sum = wanted.reduce(
            (sum, chunk) => sum + contributions(hops, npu, chunk, time).size / holdings.whole[chunk],
            0,
          );
          expect(shares[npu]).toBeCloseTo(wanted.length === 0 ? 0 : sum / wanted.length, 9);
        }
      }
    }
  });

  it("know the hops of a chunk that began", () => {
    const { npus, hops } = problems[3];
    const holdings = holdingsOf(hops, npus);
    const begun = Array.from(hops.chunk.keys()).filter((i) => hops.chunk[i] === 0 && hops.startPs[i] <= 5);
    expect([...begunAt(holdings, holdings.ofChunk, 0, 5)]).toEqual(begun);
  });

  it("keep states so that a jump in a long schedule gives the same as playing it", () => {
    const hops = randomHops(random(99), 40, 600);
    expect(hops.chunk.length).toBeGreaterThan(3 * 4096);
    const holdings = holdingsOf(hops, 40);
    const jumping = new Fill(holdings);
    for (const part of [1, 0.1, 0.9, 0.5, 0]) {
      const played = new Fill(holdings);
      for (let time = 0; time < part * hops.totalPs; time++) played.at(time);
      const expected = played.at(part * hops.totalPs);
      const shares = jumping.at(part * hops.totalPs);
      for (let npu = 0; npu < 40; npu++) expect(shares[npu]).toBeCloseTo(expected[npu], 9);
    }
  });
});

describe("hops under way", () => {
  it("are those between start and end, and events are all starts and ends", () => {
    for (const { hops } of problems) {
      const underWay = new UnderWay(hops);
      const events = [...new Set([...hops.startPs, ...hops.endPs])].sort((a, b) => a - b);
      for (const time of times(hops)) {
        const brute = Array.from(hops.chunk.keys()).filter((i) => hops.startPs[i] <= time && time < hops.endPs[i]);
        expect(underWay.at(time)).toEqual(brute);
        expect(underWay.next(time)).toBe(events.find((event) => event > time) ?? null);
        expect(underWay.previous(time)).toBe(events.findLast((event) => event < time) ?? null);
      }
    }
  });

  it("are none where there are no hops", () => {
    const underWay = new UnderWay(randomHops(random(5), 1, 1));
    expect(underWay.at(0)).toEqual([]);
    expect(underWay.next(0)).toBe(null);
    expect(underWay.previous(0)).toBe(null);
  });
});
