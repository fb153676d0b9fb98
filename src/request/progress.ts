/** How far the work is. Without `total` only the elapsed time is known. */
export interface Progress {
  readonly what: string;
  readonly done?: number;
  readonly total?: number;
  /** What is counted: "trials". */
  readonly unit?: string;
}

const STEPS: Readonly<Record<string, string>> = {
  limit: "looking for the limit",
  synthesize: "synthesizing",
  matching: "matching",
  verify: "verifying",
  simulate: "simulating",
  bound: "looking for the bound",
  lower: "lowering",
  limits: "holding the program against the runtime's limits",
  judge: "judging the program",
};

/** Returns a step of the pipeline in words; of "forestcoll: lower 2" both parts. */
export function progressOf({ phase, done, total }: { phase: string; done: number; total: number }): Progress {
  const cut = phase.indexOf(": ");
  if (cut >= 0) {
    const step = progressOf({ phase: phase.slice(cut + 2), done, total });
    return { ...step, what: `${phase.slice(0, cut)}: ${step.what}` };
  }
  if (phase.startsWith("try ")) return { what: `trying ${phase.slice(4)} (${done + 1} of ${total})` };
  if (phase.startsWith("solve ")) return { what: `solving ${phase.slice(6)}` };
  if (phase.startsWith("lower ")) return { what: `lowering (try ${phase.slice(6)})` };
  const step = STEPS[phase];
  if (step === undefined) return { what: `synthesizing ${phase}`, done, total, unit: "trials" };
  return total > 1 ? { what: step, done: Math.floor((100 * done) / total), total: 100, unit: "%" } : { what: step };
}
