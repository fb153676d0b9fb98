import { describe, expect, it } from "vitest";
import { mscclLangProgram } from "../../../src/export/programs/msccl-lang.ts";
import { mscclppDslProgram } from "../../../src/export/programs/mscclpp-dsl.ts";
import { messagesOf } from "../../../src/model/program/messages.ts";
import type { Program } from "../../../src/model/program/program.ts";
import { programOf } from "../../../src/run/programs/programs.ts";
import { type LoweringCase, plainEngine, scheduleOf, titleOf } from "../../support/lowering-cases.ts";
import { runPython, withoutPython } from "../../support/python-run.ts";
import { refused } from "../../support/refusals.ts";

const KINDS = ["allgather", "reducescatter", "allreduce", "alltoall"] as const;

/** Several rounds, several chunks, ranks that do the same and ranks that do not, boxes, chunks that are no multiple of the ranks. */
const CASES: readonly LoweringCase[] = [
  ...KINDS.map((collective) => ({ network: "ring:4", collective, algorithm: "tacos", chunks: 2 })),
  ...KINDS.map((collective) => ({ network: "mesh:2x3", collective, algorithm: "tacos" })),
  ...KINDS.map((collective) => ({ network: "hypercube:3", collective, algorithm: "direct" })),
  { network: "ring:5", collective: "allreduce", algorithm: "ring", chunks: 3 },
  { network: "dgx-a100:2", collective: "allgather", algorithm: "forestcoll" },
  { network: "ring:5", collective: "reducescatter", algorithm: "forestcoll" },
  { network: "switch:5", collective: "allreduce", algorithm: "forestcoll" },
];

const program = async (what: LoweringCase, runtime: "msccl" | "mscclpp", placement: "in" | "out"): Promise<Program> => {
  const schedule = await scheduleOf(await plainEngine(), what);
  const options = { runtime, placement, throughSwitch: false, ...(runtime === "mscclpp" && { instances: 1 }) };
  return programOf(schedule, options).program;
};

/** Writers of the languages, with what their stand-ins print for a program, beside what only the stand-in knows. */
const LANGUAGES = [
  {
    name: "MSCCLang",
    runtime: "msccl",
    write: (made: Program, about: readonly string[]) => mscclLangProgram(made, about),
    prints: (made: Program) => `${messagesOf(made).sendOf.filter((send) => send >= 0).length} messages`,
    wrong: /^the moves do not make the collective$|^KeyError/,
    table: "MOVES",
  },
  {
    name: "MSCCL++'s DSL",
    runtime: "mscclpp",
    write: (made: Program, about: readonly string[]) => mscclppDslProgram(made, about),
    prints: () => expect.stringMatching(/^[1-9]\d* operations$/),
    wrong: /^AssertionError: the blocks do not make the collective$|^KeyError/,
    table: "BLOCKS",
  },
] as const;

const reason = withoutPython("enum");

describe.each(LANGUAGES)("a program of $name", ({ runtime, write, prints, wrong, table }) => {
  const text = (made: Program): string => [...write(made, ["About it."])].join("");

  describe.skipIf(reason !== "")(`run${reason === "" ? "" : ` (${reason})`}`, () => {
    it.each(CASES.map((what) => [titleOf(what), what] as const))("%s makes the collective", async (_, what) => {
      for (const placement of ["in", "out"] as const) {
        // ranks that exchange what they have need other memory
        if (what.collective === "alltoall" && placement === "in") continue;
        const made = await program(what, runtime, placement);
        const { out, failed } = runPython(write(made, []));
        expect([placement, failed, out.trim()]).toEqual([placement, "", prints(made)]);
      }
    });

    it("takes instances", async () => {
      const made = await program(CASES[0], runtime, "out");
      expect(runPython(write(made, []), ["3"]).failed).toBe("");
    });

    it("fails where a line is changed", async () => {
      const right = text(await program(CASES[0], runtime, "out"));
      const [, lines = ""] = new RegExp(`${table} = """\\n([^"]*)"""`).exec(right) ?? [];
      // what goes to the first chunk of an output goes to the second
      const changed = right.replace(lines, lines.replaceAll(/o0(?=[\s<*])/g, "o1"));
      expect(changed).not.toBe(right);
      expect(runPython([right]).failed).toBe("");
      expect(runPython([changed]).failed).toMatch(wrong);
    });
  });

  it("has the lines of one rank where all do the same, of one box where boxes do, else of all", async () => {
    const shifts = async (network: string, algorithm: string): Promise<string | undefined> => {
      const made = await program({ network, collective: "allgather", algorithm }, runtime, "out");
      return /SHIFTS = range\(0, RANKS, (\d+)\)/.exec(text(made))?.[1];
    };
    expect(await shifts("ring:8", "ring")).toBe("1");
    expect(await shifts("dgx-a100:2", "direct")).toBe(runtime === "msccl" ? "1" : "8");
    expect(await shifts("mesh:2x3", "tacos")).toBe("6");
  });

  it("refuses collectives that the language has not, and hides what would end a string", async () => {
    const made = await program({ network: "ring:4", collective: "broadcast", algorithm: "tacos" }, runtime, "in");
    expect(() => text(made)).toThrow(refused("unknown-name", "to", "broadcast"));
    const hostile = { ...(await program(CASES[0], runtime, "out")), name: '"""\n\\' };
    const whole = [...write(hostile, ['"""; import nothing', "\\"])].join("");
    expect(whole.split('"""')).toHaveLength(text(hostile).split('"""').length);
    if (reason === "") expect(runPython([whole]).failed).toBe("");
  });
});

it("a program of MSCCLang says round by round what goes where", async () => {
  const made = await program({ network: "ring:4", collective: "allgather", algorithm: "direct" }, "msccl", "out");
  expect([...mscclLangProgram(made, [])].join("")).toContain('\nMOVES = """\n0i0>');
});
