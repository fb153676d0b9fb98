import { expect, it } from "vitest";
import { plainName } from "../../src/report/file-name.ts";

it("leaves letters, digits, dots and single dashes, not at the ends", () => {
  expect(plainName("dgx-a100:2 / é*")).toBe("dgx-a100-2");
  expect(plainName("..hidden")).toBe("hidden");
  expect(plainName(" / ")).toBe("");
});
it("is 80 characters long at most", () => expect(plainName("a".repeat(200))).toHaveLength(80));
