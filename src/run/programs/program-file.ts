import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { mpiPlanParts } from "../../export/programs/mpi-plan.ts";
import { mscclXmlParts } from "../../export/programs/msccl-xml.ts";
import { mscclppJsonParts } from "../../export/programs/mscclpp-json.ts";
import { instructionCount, type Program } from "../../model/program/program.ts";
import type { RuntimeName } from "../../model/program/runtime-names.ts";
import { RUNTIMES } from "../../model/program/runtimes.ts";
import type { ProgramViolation } from "../../verify/program/words.ts";
import { checkedText } from "../../verify/runtime/msccl-limits.ts";

/** From so many instructions on a file's text is looked at as it is written, for writing it twice takes seconds. */
export const MANY_INSTRUCTIONS = 5e5;

/** The file of a program: for which runtime, and for which sizes where it says any. */
export interface ProgramFile {
  readonly program: Program;
  readonly runtime: RuntimeName;
  readonly range: { readonly minBytes?: number; readonly maxBytes?: number };
}

/** Returns the parts of a program's file, made as they are asked for; of many instructions they are held against the runtime's limits. */
export function fileParts({ program, runtime, range }: ProgramFile): Iterable<string> {
  if (runtime === "mpi") return mpiPlanParts(program, range);
  if (runtime === "mscclpp") return mscclppJsonParts(program, range);
  const text = mscclXmlParts(program, { dialect: runtime, ...range });
  if (instructionCount(program) <= MANY_INSTRUCTIONS) return text;
  return checkedText(text, runtime, (violation) => {
    throw beyondLimits(runtime, violation);
  });
}

/** Returns the error that says which limit of a runtime a program does not meet. */
export const beyondLimits = (runtime: RuntimeName, { message }: ProgramViolation): InputError =>
  new InputError(optionName("to"), `a program within the limits of ${RUNTIMES[runtime].title}`, message);
