import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { fingerprintOf, isOnlyMentioned, packFile, unpackFile } from "../../../src/web/state/address-file.ts";
import { unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";

const given = (name: string, ...parts: (string | Uint8Array<ArrayBuffer>)[]) => ({ name, content: new Blob(parts) });

describe("files in addresses", () => {
  it("that are damaged in any way are refused in a sentence, or hold something", async () => {
    const whole = await packFile(given("box.json", '{"links": [1, 2, 3]}'.repeat(30)));
    const damaged = fc
      .tuple(fc.nat(whole.length - 1), fc.string({ maxLength: 6 }), fc.nat(4))
      .map(([at, put, cut]) => whole.slice(0, at) + put + whole.slice(at + cut));
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), damaged), async (packed) => {
        try {
          const mention = await unpackFile(packed);
          expect("given" in mention ? mention.given.content : mention.fingerprint).toBeTruthy();
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
        }
      }),
      { numRuns: runs(2000) },
    );
  });

  it.each([
    ["two-boxes.json", '{"links": []}'.repeat(100)],
    ["a~b & c=d.txt", "é\u0000\n"],
    ["empty.csv", ""],
  ])("hold all of a small file: %s", async (name, text) => {
    const packed = await packFile(given(name, text));
    expect(packed).toMatch(/~[\w-]+$/);
    expect(isOnlyMentioned(packed)).toBe(false);
    const mention = await unpackFile(packed);
    expect("given" in mention && [mention.given.name, await mention.given.content.text()]).toEqual([name, text]);
  });

  it("hold a fingerprint of a file that does not pack into 12 kB", async () => {
    const bytes = new Uint8Array(randomBytes(10_000));
    const packed = await packFile(given("noise.bin", bytes));
    expect(isOnlyMentioned(packed)).toBe(true);
    expect(await unpackFile(packed)).toEqual({
      name: "noise.bin",
      fingerprint: await fingerprintOf(new Blob([bytes])),
    });
    const small = await packFile(given("noise.bin", bytes.slice(0, 9000)));
    expect(isOnlyMentioned(small)).toBe(false);
  });

  it("tell files apart by length and any byte", async () => {
    const [a, b] = ["x".repeat(3_000_000), "x".repeat(1_499_999)];
    const texts = [a, `y${a.slice(1)}`, `${b}yx${b}`, `${b}xy${b}`, `${a.slice(1)}y`, a.slice(1)];
    const prints = await Promise.all(texts.map((text) => fingerprintOf(new Blob([text]))));
    expect(new Set(prints).size).toBe(texts.length);
    expect(await fingerprintOf(new Blob([a]))).toBe(prints[0]);
  });

  it("refuse what is damaged", async () => {
    const packed = await packFile(given("a.json", '{"npus": 8, "links": "ring"}'));
    const damaged = [
      packed.slice(0, -9),
      "a.json",
      "~AAAA",
      "a.json~",
      "a.json~%%%",
      "a.json~A",
      `${packed.slice(0, -4)}____`,
    ];
    for (const text of damaged) await expect(unpackFile(text), text).rejects.toBeInstanceOf(InputError);
  });

  it("refuse small data that unpack to more than 8 MiB", async () => {
    const stream = new Blob([new Uint8Array(9 * 2 ** 20)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    const bytes = Buffer.from(await new Response(stream).arrayBuffer());
    expect(bytes.length).toBeLessThan(12_000);
    const packed = `zeros.bin~${bytes.toString("base64url")}`;
    await expect(unpackFile(packed)).rejects.toThrow(unexpected("the file of the address", packed, "8 MiB"));
  });
});
