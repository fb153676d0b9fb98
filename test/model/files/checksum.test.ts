import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crc32 } from "../../../src/model/files/checksum.ts";
import { runs } from "../../support/runs.ts";

/** Bit by bit, from the polynomial. */
function slowCrc(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const byte of bytes) {
    c ^= byte;
    for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  }
  return ~c >>> 0;
}

describe("crc32", () => {
  it("gives the check value of its standard", () => {
    expect(crc32(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
    expect(crc32(new Uint8Array(0))).toBe(0);
  });

  it("is that of the polynomial at every length and alignment", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(9), (bytes, shift) => {
        const moved = new Uint8Array(bytes.length + shift).subarray(shift);
        moved.set(bytes);
        expect(crc32(moved)).toBe(slowCrc(bytes));
      }),
      { numRuns: runs(500) },
    );
  });

  it("goes on from the CRC of what came before", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(100), (bytes, cut) => {
        expect(crc32(bytes.subarray(cut), crc32(bytes.subarray(0, cut)))).toBe(slowCrc(bytes));
      }),
    );
  });
});
