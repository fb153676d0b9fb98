import { CancelledError, InfeasibleError, InputError, InternalError, inWords } from "../../base/errors.ts";

export const STATUS = {
  ok: 0,
  badArgument: 1,
  outputTooSmall: 2,
  unreachable: 3,
  cancelled: 4,
  outOfMemory: 5,
  timeOverflow: 6,
} as const;

/** Throws the error that a kernel's status stands for; does nothing for ok and outputTooSmall. */
export function throwForStatus(status: number, npu: number, chunk: number): void {
  switch (status) {
    case STATUS.ok:
    case STATUS.outputTooSmall:
      return;
    case STATUS.unreachable:
      throw new InfeasibleError(`chunk ${chunk} cannot reach NPU ${npu}: no route leads there`, { npu, chunk });
    case STATUS.cancelled:
      throw new CancelledError();
    case STATUS.outOfMemory:
      throw new InternalError("a kernel ran out of memory: the network or the schedule is too large", true);
    case STATUS.timeOverflow:
      throw new InputError(
        "the network",
        "links and sizes whose schedule lasts less than 2.5 hours (2^53 picoseconds)",
        inWords("longer times"),
      );
    default:
      throw new InternalError("a kernel was called with an argument out of range");
  }
}
