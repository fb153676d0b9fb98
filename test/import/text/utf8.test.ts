import { expect, it } from "vitest";
import { utf8Text } from "../../../src/import/text/utf8.ts";
import { unexpected } from "../../support/refusals.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

it("returns the text as it is, a mark at its beginning too", () => {
  expect(utf8Text(bytesOf("\ufeffNPU ä → b"), "net")).toBe("\ufeffNPU ä → b");
  expect(utf8Text(new Uint8Array(0), "net")).toBe("");
  expect(utf8Text(bytesOf("\ufffd is a letter of its own"), "net")).toContain("\ufffd");
});
it("names the line of the first byte that is wrong, and what stands before it", () => {
  const bytes = new Uint8Array([...bytesOf("a\nb\nhere: "), 0xe4, ...bytesOf(" and on")]);
  expect(() => utf8Text(bytes, "net")).toThrow(unexpected("net line 3", "here: �, not UTF-8"));
});
it.each([
  ["with its mark", [0xff, 0xfe, 0x61, 0]],
  ["with its mark, big end first", [0xfe, 0xff, 0, 0x61]],
  ["without", [0x61, 0, 0x62, 0]],
])("tells UTF-16 %s", (_, bytes) => {
  expect(() => utf8Text(Uint8Array.from(bytes), "net")).toThrow(unexpected("net", "UTF-16"));
});
it("tells what is no text from UTF-16", () => {
  for (const bytes of [
    [0, 1, 2],
    [0, 1, 2, 0x20],
    [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0],
    [0x50, 0x4b, 3, 4, 0x14, 0, 0, 0],
  ])
    expect(() => utf8Text(Uint8Array.from(bytes), "net")).toThrow(unexpected("net", "bytes that are no text"));
});
