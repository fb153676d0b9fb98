import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Execution } from "../../execute/execute.ts";
import { type CallPlacement, ELEMENT_BYTES } from "../../execute/layout.ts";
import { ELEMENT_TYPES } from "../../execute/memory.ts";
import { parseSize } from "../../model/numbers/units.ts";
import type { Program } from "../../model/program/program.ts";
import { count, roundedSize, timeText } from "../../report/amounts.ts";
import { programText } from "../../report/program-text.ts";
import { optionValue, textOf, wordOf } from "../../request/option-table.ts";
import { type Context, outJson, outRows } from "../context.ts";
import { nameOf } from "../files/input-file.ts";
import { programFile, programJson } from "../programs/program-file.ts";
import { MOST_THREADS, runProgram } from "../programs/run-program.ts";

/** One call of the program. */
interface Ran {
  readonly placement: CallPlacement;
  readonly execution: Execution;
  readonly us: number;
}

/** Without --size: as many equal chunks of whole elements as make this, or a little more. */
const DEFAULT_BYTES = 2 ** 20;

/** `banyan run FILE`: exit code 1 and what went wrong where the program does not compute its collective. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options } = context;
  const type = wordOf(options, "dtype", ELEMENT_TYPES) ?? "i32";
  const size = textOf(options, "size");
  const seed = optionValue(options, "seed") ?? 1;
  const threads = optionValue(options, "threads") ?? MOST_THREADS;
  const asked = wordOf(options, "placement", ["in", "out"]);
  const { file, program } = await programFile(context, args[0] as string);
  const step = program.loopChunks * ELEMENT_BYTES;
  const sizeBytes = size === undefined ? Math.ceil(DEFAULT_BYTES / step) * step : parseSize(size);

  const calls: Ran[] = [];
  for (const placement of placementsOf(program, asked)) {
    context.progress({ what: `running ${placementText(placement)}` });
    const start = performance.now();
    const execution = await runProgram(program, { type, sizeBytes, placement, seed, threads }, context.signal);
    calls.push({ placement, execution, us: (performance.now() - start) * 1000 });
  }
  const good = calls.every(({ execution: { outcome } }) => outcome === "correct" || outcome === "ran");
  if (context.json) {
    outJson(
      context,
      {
        schema: "banyan/execution@1",
        file,
        program: programJson(program),
        dtype: type,
        sizeBytes,
        seed,
        correct: program.collective === "custom" ? null : good,
        calls: calls.map(({ placement, execution, us }) => ({ placement, us, ...execution })),
      },
      good,
    );
  } else if (!context.quiet || !good) {
    const title = `${nameOf(file)}: ${programText(program)}, ${roundedSize(sizeBytes)} of ${type}`;
    outRows(context, [title, ...calls.flatMap((call) => callLines(context, program, call))]);
  }
  return good ? 0 : 1;
}

const placementText = (placement: CallPlacement): string => (placement === "in" ? "in place" : "out of place");

/** Returns the kinds of calls to run: those that the program is for. Throws InputError where it is not for the one asked for. */
function placementsOf({ inPlace, outOfPlace }: Program, asked: CallPlacement | undefined): readonly CallPlacement[] {
  const declared: readonly CallPlacement[] = [
    ...(inPlace ? ["in" as const] : []),
    ...(outOfPlace ? ["out" as const] : []),
  ];
  if (declared.length === 0)
    throw new InputError("the program", "one for calls in place or out of place", inWords("neither"));
  if (asked === undefined) return declared;
  if (declared.includes(asked)) return [asked];
  throw new InputError(optionName("placement"), `${declared[0]}, which the program is for,`, asked);
}

function callLines({ style }: Context, program: Program, { placement, execution, us }: Ran): string[] {
  const { outcome, differenceCount, faultCount, waitCount, instructions, bytes, inputsOverwritten } = execution;
  const done = `${count(instructions, "instruction")}, ${roundedSize(bytes)} between GPUs, ${timeText(us)}`;
  const verdicts: Record<Execution["outcome"], string> = {
    correct: `${style.good("correct")} on all ${program.rankCount} GPUs: ${done}`,
    ran: `${style.good("ran")} to its end (what a custom collective should compute is not known): ${done}`,
    wrong: `${style.bad("wrong")}: ${count(differenceCount, "element")} differ`,
    stuck: `${style.bad("stuck")}: ${count(waitCount, "instruction")} wait for ever`,
    faulty: `${style.bad("wrong")}: ${count(faultCount, "fault")}`,
  };
  const details = [
    ...execution.faults,
    ...execution.waits,
    ...execution.differences.map(
      ({ rank, element, got, expected }) => `gpu ${rank}, element ${element}: expected ${expected}, got ${got}`,
    ),
  ];
  const rest = Math.max(faultCount, waitCount, differenceCount) - details.length;
  if (rest > 0 && details.length > 0) details.push(`... and ${rest} more`);
  if (inputsOverwritten.length > 0)
    details.push(`note: it overwrites the input of ${count(inputsOverwritten.length, "GPU")}, though not in place`);
  return [`${placementText(placement)}: ${verdicts[outcome]}`, ...details.map((line) => `  ${line}`)];
}
