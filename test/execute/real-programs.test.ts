import { describe, expect, it } from "vitest";
import { executeProgram } from "../../src/execute/execute.ts";
import { readProgram } from "../../src/import/programs/program.ts";
import { placementsOf } from "../support/program-campaign.ts";
import { hasSharedData, sharedFiles, sharedText } from "../support/shared-data.ts";
import { someOrder } from "../support/some-order.ts";

const FILES = ["msccl-xml", "mscclpp-json"].flatMap((folder) =>
  sharedFiles(folder)
    .filter((name) => /\.(xml|json)$/.test(name) && !/^MANIFEST|^legacy/.test(name))
    .map((name) => [name, `${folder}/${name}`] as const),
);
/** Blocks of a group read what another block of the group has copied without waiting for it. */
const RACES = "test-reduce_tbg.json";

describe.skipIf(!hasSharedData)("programs of others", () => {
  it.each(FILES.filter(([name]) => name !== RACES))("%s computes what it promises", (name, path) => {
    const program = readProgram(sharedText(path), name);
    for (const placement of placementsOf(program))
      for (let seed = 0; seed < 4; seed++) {
        const type = seed % 2 === 0 ? "i32" : "f32";
        const order = someOrder(program, seed);
        const ran = executeProgram(program, { type, sizeBytes: program.loopChunks * 8, placement, seed, order });
        expect([ran.outcome, ran.faults, ran.waits, ran.differences]).toEqual(["correct", [], [], []]);
      }
  });

  it(`${RACES} reads too early in some orders`, () => {
    const program = readProgram(sharedText(`mscclpp-json/${RACES}`), RACES);
    const outcomes = Array.from({ length: 100 }, (_, seed) =>
      executeProgram(program, {
        type: "i32",
        sizeBytes: program.loopChunks * 8,
        placement: "in",
        seed,
        order: someOrder(program, seed),
      }),
    );
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(["correct", "faulty"]));
  });
});
