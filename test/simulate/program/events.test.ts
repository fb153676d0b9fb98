import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Events } from "../../../src/simulate/program/events.ts";
import { runs } from "../../support/runs.ts";

/** Steps from a time on, few or many, and some whose times have one place in the table: they differ by 2^32. */
const delays = fc.constantFrom(0, 0, 1, 2, 7, 2 ** 32, 2 ** 33, 2 ** 40 + 1);

describe("events of a simulation", () => {
  it("come in order of time, those of one time in the order in which they were put in", () => {
    const burst = fc.array(delays, { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(burst, { minLength: 1, maxLength: 60 }), (bursts) => {
        const events = new Events();
        const waiting: { readonly time: number; readonly payload: number }[] = [];
        let payload = 0;
        const put = (now: number, list: readonly number[]): void => {
          for (const delay of list) {
            events.push(now + delay, payload);
            waiting.push({ time: now + delay, payload: payload++ });
          }
        };
        put(0, bursts[0] ?? []);
        for (let next = 1; events.next(); next++) {
          const first = waiting.reduce((best, one) => (one.time < best.time ? one : best));
          expect([events.time, events.payload]).toEqual([first.time, first.payload]);
          waiting.splice(waiting.indexOf(first), 1);
          put(events.time, bursts[next] ?? []);
        }
        expect(waiting).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
  });
});
