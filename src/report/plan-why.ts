import { percent, roundedSize, timeText } from "./amounts.ts";
import { meshText } from "./plan-text.ts";

/** Why a plan is the best: what hand-made plans take more, and what other states of its tensors would cost. */

/** What the report says of the best hand-made plan of those that are called the same, beside the best plan. */
export interface HandRow {
  /** "16 data x 8 tensor, parameters shared (FSDP)" */
  readonly name: string;
  /** Of a stage. */
  readonly mesh: readonly { readonly name: string; readonly size: number }[];
  readonly stages: number;
  readonly passes: number;
  /** What is made again instead of kept: "none", "elementwise", "most". */
  readonly remaking: string;
  /** Of the NPU that needs most; null where that was not worked out. */
  readonly memoryBytes: number | null;
  /** Null where it does not fit in memory. */
  readonly us: number | null;
  /** Else by the search's count. */
  readonly isSimulated: boolean;
  /** More than the best plan, less where negative; of what does not fit, what it would compute and wait for by the count. */
  readonly moreUs: number | null;
  /** Null of stages that were not simulated. */
  readonly moreComputeUs: number | null;
  /** By the axes that are waited for, and "other stages". */
  readonly moreWaitUs: Readonly<Record<string, number>>;
}

/** What the report says of the next best state of tensors that are alike. */
export interface NextRow {
  readonly stage: number;
  readonly name: string;
  readonly count: number;
  readonly of: "parameter" | "optimizer" | "activation";
  readonly now: { readonly lies: string; readonly retention: string };
  readonly instead: { readonly lies: string; readonly retention: string };
  /** More by the search's count, less where negative. */
  readonly us: number;
  readonly bytes: number;
  readonly fits: boolean;
}

/** A hand-made plan in the words of the grid. */
interface Hand {
  readonly uses: readonly string[];
  readonly sharing: "none" | "optimizer" | "parameters";
}

const SHARED = { none: "", optimizer: ", optimizer shared (ZeRO)", parameters: ", parameters shared (FSDP)" } as const;

/** Returns what a hand-made plan is called: "16 data x 8 tensor, parameters shared (FSDP)"; axes of the same use are one. */
export function handText(
  { uses, sharing }: Hand,
  {
    stages,
    mesh: { axes },
  }: { readonly stages: number; readonly mesh: { readonly axes: readonly { readonly size: number }[] } },
): string {
  const sizes = new Map<string, number>();
  uses.forEach((use, j) => {
    const { size } = axes[j] as (typeof axes)[number];
    if (size > 1 && use !== "nothing") sizes.set(use, (sizes.get(use) ?? 1) * size);
  });
  const used = [...sizes].map(([use, size]) => `${size} ${use}`);
  const isShared = [...sizes.keys()].some((use) => !use.startsWith("tensor"));
  const own = `${used.join(" x ")}${isShared ? SHARED[sharing] : ""}`;
  return stages === 1 ? own : [`${stages} stages`, own].filter((text) => text !== "").join(", ");
}

/** Returns the mesh of a hand-made plan: "16x8", "4 stages of 2". */
export const handMesh = ({ mesh, stages }: HandRow): string => meshText({ mesh, stages: { length: stages } });

/** Returns what a hand-made plan takes: "30.2 s counted". */
export const handTime = ({ us, isSimulated }: HandRow): string =>
  us === null ? "-" : `${timeText(us)}${isSimulated ? "" : " counted"}`;

/** Differences below this part of the step are not told. */
const LEAST_TOLD = 1e-3;

/** Returns why a hand-made plan is not the best, in figures: "does not fit: needs 212 GiB", "waits 310 ms more on A". */
export function whyNotText(row: HandRow, best: { readonly us: number; readonly computeUs: number }): string {
  const { us, moreUs, moreComputeUs, moreWaitUs, memoryBytes, remaking, isSimulated } = row;
  if (us === null || moreUs === null)
    return memoryBytes === null ? "does not fit" : `does not fit: needs ${roundedSize(memoryBytes)}`;
  if (moreUs <= LEAST_TOLD * best.us) return isSimulated ? "takes as long" : "counts as little";
  const reasons: (readonly [number, string])[] = [];
  const waits: (readonly [number, string])[] = [];
  if (moreComputeUs !== null && moreComputeUs > LEAST_TOLD * best.us) {
    const again = remaking === "none" ? "" : ", with what is made again";
    reasons.push([moreComputeUs, `computes ${percent(moreComputeUs / best.computeUs)} more${again}`]);
  }
  for (const [name, more] of Object.entries(moreWaitUs)) {
    if (more <= LEAST_TOLD * best.us) continue;
    waits.push([more, `${timeText(more)} more ${name === "other stages" ? "for" : "on"} ${name}`]);
  }
  const words = (all: readonly (readonly [number, string])[]): string =>
    [...all]
      .sort(([a], [b]) => b - a)
      .map(([, text]) => text)
      .join(", ");
  if (waits.length > 0) reasons.push([waits.reduce((all, [more]) => all + more, 0), `waits ${words(waits)}`]);
  return words(reasons) || `takes ${timeText(moreUs)} more`;
}

/** Returns the rows that are told first: those of one use of all NPUs or of stages, then mixtures; the fastest of each first. */
export function mainHands(rows: readonly HandRow[], most: number): HandRow[] {
  const isPlain = ({ name, stages }: HandRow): boolean => stages > 1 || !name.includes(" x ");
  const chosen = [...rows.filter(isPlain), ...rows.filter((row) => !isPlain(row))].slice(0, most - 1);
  const [mixed] = rows.filter((row) => !isPlain(row) && !chosen.includes(row));
  return rows.filter((row) => chosen.includes(row) || row === mixed);
}

/** Returns of what the next best state is: "optimiser of layer 1 gate weights". */
export const nextName = ({ name, of }: NextRow): string => (of === "optimizer" ? `optimizer of ${name}` : name);

/** Returns a state: where the tensor lies, of activations what becomes of it too. */
export const nextStateText = ({ of }: NextRow, { lies, retention }: NextRow["now"]): string =>
  of === "activation" ? `${lies}, ${retention}` : lies;

/** Returns what the next best state of some tensors would cost: "9.2 GiB more, 3.1 ms less: does not fit". */
export function nextCostText({ us, bytes, fits }: NextRow): string {
  const side = (amount: number, text: (amount: number) => string): string[] =>
    amount === 0 ? [] : [`${text(Math.abs(amount))} ${amount > 0 ? "more" : "less"}`];
  const parts = [...side(bytes, roundedSize), ...side(us, timeText)];
  return `${parts.join(", ") || "the same"}${fits ? "" : ": does not fit"}`;
}
