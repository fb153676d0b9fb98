import { describe, expect, test } from "vitest";
import { readMscclppJson } from "../../src/import/programs/mscclpp-json.ts";
import { readMscclXml } from "../../src/import/programs/program.ts";
import { verifyProgram } from "../../src/verify/program/program.ts";
import { hasSharedData, sharedFiles, sharedText } from "../support/shared-data.ts";

const xmlFiles = sharedFiles("msccl-xml").filter((name) => name.endsWith(".xml"));
const plans = sharedFiles("mscclpp-json").filter((name) => name !== "legacy-allreduce.json");

const verified = (name: string) => verifyProgram(readMscclXml(sharedText(`msccl-xml/${name}`), name));

describe.skipIf(!hasSharedData)("programs of other people", () => {
  test("are 33 files of a manifest that calls them valid, and nine from deployments", () => {
    const valid = JSON.parse(sharedText("msccl-xml/MANIFEST.json")) as { file: string; ok: boolean }[];
    expect(valid.every(({ ok }) => ok)).toBe(true);
    expect(valid.length).toBe(33);
    expect(valid.every(({ file }) => xmlFiles.includes(file))).toBe(true);
    expect(xmlFiles.length).toBe(42);
  });

  test.each(xmlFiles)("%s is correct", (name) => {
    expect(verified(name).violations).toEqual([]);
  });

  test("two of them change their input out of place, which is a warning", () => {
    const warned = xmlFiles.filter((name) => verified(name).warnings.length > 0);
    expect(warned).toEqual(["forestcoll-allreduce-a100x2-k2-split-oop.xml", "forestcoll-allreduce-mi250x1-k1-oop.xml"]);
    expect(verified(warned[0]).warnings[0].message).toMatch(
      /^72 chunks of inputs are changed out of place, first i\[0\]/,
    );
  });

  test("RCCL's all-reduce by all pairs sends 8 chunks before it receives: in its sizes they are one message", () => {
    const name = "rccl-allreduce-allpairs-8n-simple.xml";
    const program = readMscclXml(sharedText(`msccl-xml/${name}`), name);
    expect(verifyProgram(program).facts).toMatchObject({ capacity: 2, messageChunks: 71, leastCapacity: 1 });
    const { violations } = verifyProgram({ ...program, maxBytes: 2 ** 40 });
    expect(violations.map(({ kind }) => kind)).toEqual(["deadlock"]);
    expect(violations[0].message).toMatch(/needs connections that hold 8 messages, where the runtime's hold 2$/);
  });

  test.each(plans.filter((name) => name !== "test-reduce_tbg.json"))("%s is correct", (name) => {
    const program = readMscclppJson(sharedText(`mscclpp-json/${name}`), name);
    expect(verifyProgram(program).violations).toEqual([]);
  });

  test("test-reduce_tbg.json has data races: a block reads what another block of the peer wrote, told by the first alone", () => {
    const name = "test-reduce_tbg.json";
    const { violations } = verifyProgram(readMscclppJson(sharedText(`mscclpp-json/${name}`), name));
    expect(violations.map(({ kind }) => kind)).toEqual(["race", "race", "race"]);
    expect(
      violations.some(({ message }) =>
        /^gpu 0, thread block 0, step 7.*: get reads .* of gpu 1, which gpu 1, thread block 1, step 0.*: copy writes/.test(
          message,
        ),
      ),
    ).toBe(true);
  });
});
