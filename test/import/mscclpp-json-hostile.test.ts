import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linesOfObjects, programFromPlan, readMscclppJson } from "../../src/import/programs/mscclpp-json.ts";
import { anyTextChange, changedText } from "../support/changed-text.ts";
import { refusalFrom, unexpected } from "../support/refusals.ts";
import { runs } from "../support/runs.ts";
import { hasSharedData, sharedFiles, sharedText } from "../support/shared-data.ts";
import {
  allGather,
  BY_MEMORY,
  local,
  move,
  OWN_PLANS,
  type Plan,
  pipelinedCopy,
  remote,
} from "./mscclpp-json-plans.ts";
import { isRefused } from "./support.ts";

const refusal = (value: Plan) => refusalFrom(() => programFromPlan(value, "p.json"));

describe("hostile plans", () => {
  it("nested deeply are refused", () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    for (const text of [deep, `{"gpus": ${deep}}`, JSON.stringify(allGather()).replace('"nop"', deep)])
      expect(isRefused(() => readMscclppJson(text, "p.json"))).toBe(true);
    const pipelines = '{"name":"pipeline","iter_context":{"unit_size":16,"num_chunks":1},"ops":['.repeat(100_000);
    const nested = JSON.stringify(allGather()).replace(/\{"name":"nop"\}/, `${pipelines}${"]}".repeat(100_000)}`);
    expect(isRefused(() => readMscclppJson(nested, "p.json"))).toBe(true);
  });

  it("that claim much take memory for what they list only", () => {
    const value = allGather();
    for (const gpu of value.gpus) Object.assign(gpu, { input_chunks: 1e9, output_chunks: 2e9, scratch_chunks: 2e9 });
    value.gpus[0].threadblocks[0].ops[3] = move("put", [local("o", 0, 2e9)], [remote(0, 0, 2e9)], BY_MEMORY);
    expect(programFromPlan(value, "p.json").loopChunks).toBe(2e9);
  });

  it("with very long lists are read", () => {
    const value = allGather();
    value.gpus[0].threadblocks[0].ops[0].channel_ids = new Array(300_000).fill(0);
    expect(programFromPlan(value, "p.json").postOn.length).toBe(300_000 + 3);
  });

  it("that unroll beyond all bounds are refused before they do", () => {
    const value = pipelinedCopy(16, 1000, 1);
    const [pipeline] = value.gpus[0].threadblocks[0].ops;
    pipeline.ops = new Array(5000).fill(pipeline.ops[1]);
    expect(refusal(value)).toEqual(unexpected("p.json", "more", 8388608));
  });

  it("with any change of their text are read or refused by an InputError", () => {
    const texts = Object.values(OWN_PLANS).flatMap((make) => [JSON.stringify(make()), JSON.stringify(make(), null, 1)]);
    const change = anyTextChange(
      fc.constantFrom('"memory"', '"port"', '"switch"', '"s"', "1000000000", "true", '"glres"'),
    );
    fc.assert(
      fc.property(fc.constantFrom(...texts), change, fc.boolean(), (text, changed, wellFormed) => {
        isRefused(() => readMscclppJson(changedText(text, changed, wellFormed ? 0 : null), "p.json"));
      }),
      { numRuns: runs(3000) },
    );
  });

  it("whose operations are swapped or dropped, or carry those of others, are read or refused by an InputError", () => {
    const plans = Object.values(OWN_PLANS).map((make) => make());
    // biome-ignore lint/suspicious/noExplicitAny: operations of all kinds
    const operations: any[] = plans.flatMap(({ gpus }) =>
      gpus.flatMap((gpu: Plan) => gpu.threadblocks.flatMap(({ ops }: Plan) => ops)),
    );
    const draw = fc.record({ from: fc.nat(), at: fc.nat(), which: fc.nat(), drop: fc.boolean() });
    fc.assert(
      fc.property(fc.constantFrom(...plans), fc.array(draw, { minLength: 1, maxLength: 4 }), (original, changes) => {
        const value = structuredClone(original);
        for (const { from, at, which, drop } of changes) {
          const blocks = value.gpus.flatMap(({ threadblocks }: Plan) => threadblocks);
          const { ops } = blocks[which % blocks.length];
          ops.splice(at % (ops.length + 1), drop ? 1 : 0, ...(drop ? [] : [operations[from % operations.length]]));
        }
        isRefused(() => programFromPlan(value, "p.json"));
      }),
      { numRuns: runs(1000) },
    );
  });

  it.skipIf(!hasSharedData)("made of real ones by any change are read or refused by an InputError", () => {
    const texts = sharedFiles("mscclpp-json/")
      .map((name) => sharedText(`mscclpp-json/${name}`))
      .filter(({ length }) => length < 60_000);
    fc.assert(
      fc.property(fc.constantFrom(...texts), anyTextChange(), fc.nat(60_000), (text, change, after) => {
        isRefused(() => readMscclppJson(changedText(text, change, after % text.length), "p.json"));
      }),
      { numRuns: runs(300) },
    );
  });
});

describe("linesOfObjects", () => {
  it("finds the line of each object that is directly in a list under a key, whatever strings hold", () => {
    const strings = fc.constantFrom("a", '"', "\\", '"ops": [{', "}]", "\n", "é\u2028");
    const tree = fc.letrec<{ list: unknown[]; object: object }>((tie) => ({
      list: fc.oneof({ maxDepth: 3 }, fc.constant<unknown[]>([]), fc.array(tie("object"), { maxLength: 3 })),
      object: fc.record({ text: strings, ops: tie("list"), other: tie("list") }),
    }));
    fc.assert(
      fc.property(tree.object, (value) => {
        let count = 0;
        const mark = (object: Plan, listed: boolean): Plan => ({
          ...(listed ? { mark: `#${count++}` } : {}),
          ...Object.fromEntries(
            Object.entries(object).map(([key, part]) => {
              if (Array.isArray(part)) return [key, part.map((member) => mark(member, key === "ops"))];
              return [key, typeof part === "object" ? mark(part as Plan, false) : part];
            }),
          ),
        });
        const text = JSON.stringify(mark(value, false), null, 1);
        const expected = text.split("\n").flatMap((line, i) => (line.includes('"mark": "#') ? [i] : []));
        expect(linesOfObjects(text, ["ops"]).ops).toEqual(expected);
      }),
    );
  });
});
