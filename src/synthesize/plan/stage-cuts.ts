/** What a part of a model takes in a step, as long as it is in some stage. */
export interface PartCost {
  /** [resources] picoseconds of all passes; what a stage takes is the greatest of their sums. */
  readonly times: readonly number[];
  /** Bytes of an NPU: what lasts, what each pass under way keeps, what else is there at most. */
  readonly lastingBytes: number;
  readonly keptBytes: number;
  readonly workingBytes: number;
}

/** What a cut in front of a part takes, were there one. */
export interface CutCost {
  /** Picoseconds of all passes until what comes forward is there, for the stage behind; what comes back, for the one before. */
  readonly forwardPs: number;
  readonly backwardPs: number;
  /** Bytes of an NPU of the stage behind, of each pass under way. */
  readonly keptBytes: number;
}

/** A model in parts that is to be cut. */
export interface CutProblem {
  readonly parts: readonly PartCost[];
  /** [parts] in front of each; of the first nothing is said. */
  readonly cuts: readonly CutCost[];
  readonly stages: number;
  readonly passes: number;
  readonly memoryBytes: number;
}

/** Stages of neighbouring parts. */
export interface StageCuts {
  /** [stages] the first part of each; none is empty. */
  readonly firsts: readonly number[];
  readonly ps: number;
}

/** Returns what a step takes whose stages take so long for all of their passes: the first pass through all, then the slowest's. */
export function pipelinePs(stagePs: readonly number[], passes: number): number {
  const sum = stagePs.reduce((all, ps) => all + ps, 0);
  return (sum + (passes - 1) * Math.max(...stagePs)) / passes;
}

/**
 * Returns what a stage has to take less than for a step to take less than `belowPs`, whose other stages take what `stagePs` says of
 * them; 0 where none is that fast.
 */
export function belowOfStage(stagePs: readonly number[], stage: number, belowPs: number, passes: number): number {
  const others = stagePs.filter((_, s) => s !== stage);
  const sum = others.reduce((all, ps) => all + ps, 0);
  const most = Math.max(0, ...others);
  const asSlowest = belowPs - sum / passes;
  return Math.max(0, asSlowest >= most ? asSlowest : belowPs * passes - sum - (passes - 1) * most);
}

/** Returns passes whose activations a stage keeps at a time, in 1F1B. */
export const passesInFlight = (stage: number, stages: number, passes: number): number =>
  Math.min(passes, stages - stage);

/** Returns what no cuts take less than: parts as they are, dealt evenly. O(parts). */
export function leastOfCuts({ parts, stages, passes }: CutProblem): number {
  const sums = (parts[0]?.times ?? []).map((_, r) => parts.reduce((all, { times }) => all + (times[r] as number), 0));
  const stagePs = Math.max(...sums) / stages;
  return pipelinePs(new Array(stages).fill(stagePs), passes);
}

/** Returns what stages of the parts from `first` on take, by where they end, [behind the last part]; Infinity where they do not fit. */
function stagesFrom(problem: CutProblem, first: number, stage: number): Float64Array {
  const { parts, cuts, stages, passes, memoryBytes } = problem;
  const inFlight = passesInFlight(stage, stages, passes);
  const before = first > 0 ? cuts[first] : undefined;
  const times = new Float64Array(parts[first]?.times.length ?? 0);
  const found = new Float64Array(parts.length + 1).fill(Number.POSITIVE_INFINITY);
  let [lasting, kept, working] = [0, before?.keptBytes ?? 0, 0];
  for (let end = first + 1; end <= parts.length; end++) {
    const { times: own, lastingBytes, keptBytes, workingBytes } = parts[end - 1] as PartCost;
    lasting += lastingBytes;
    kept += keptBytes;
    working = Math.max(working, workingBytes);
    for (let r = 0; r < times.length; r++) times[r] = (times[r] as number) + (own[r] as number);
    // more parts keep more
    if (lasting + inFlight * kept > memoryBytes) break;
    if (lasting + inFlight * kept + working > memoryBytes) continue;
    const busiest = Math.max(...times);
    const behind = end < parts.length ? (cuts[end]?.backwardPs ?? 0) : 0;
    found[end] = busiest + (before?.forwardPs ?? 0) + behind;
  }
  return found;
}

/**
 * Returns the cuts of the shortest step, by dynamic programming (Zheng et al. 2022, 5.2): for each time that the slowest stage may
 * take, the least sum of stages of which none takes more; times are tried upwards until they alone are no better. Null where no
 * cuts fit, or there are fewer parts than stages. O(times x stages x parts^2), of as many different times as there are stages of
 * neighbouring parts.
 */
export function bestCuts(problem: CutProblem): StageCuts | null {
  const { parts, stages, passes } = problem;
  const count = parts.length;
  /** [stages][first part][behind the last] */
  const ps = Array.from({ length: stages }, (_, stage) =>
    Array.from({ length: count }, (_, first) => {
      if ((stage === 0) !== (first === 0)) return new Float64Array(count + 1).fill(Number.POSITIVE_INFINITY);
      const own = stagesFrom(problem, first, stage);
      return own.map((one, end) => ((stage === stages - 1) === (end === count) ? one : Number.POSITIVE_INFINITY));
    }),
  );
  const times = [...new Set(ps.flatMap((all) => all.flatMap((own) => [...own])))]
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  let best: StageCuts | null = null;
  for (const most of times) {
    if (best !== null && ((passes - 1) * most) / passes >= best.ps) break;
    /** [behind the last] the least sum of the stages so far, and where each began. */
    let sums = Float64Array.from({ length: count + 1 }, (_, end) => (end === 0 ? 0 : Number.POSITIVE_INFINITY));
    const firsts: Int32Array[] = [];
    for (let stage = 0; stage < stages; stage++) {
      const next = new Float64Array(count + 1).fill(Number.POSITIVE_INFINITY);
      const from = new Int32Array(count + 1);
      for (let first = 0; first < count; first++) {
        const before = sums[first] as number;
        if (before === Number.POSITIVE_INFINITY) continue;
        const own = ps[stage]?.[first] as Float64Array;
        for (let end = first + 1; end <= count; end++) {
          const one = own[end] as number;
          if (one > most || before + one >= (next[end] as number)) continue;
          next[end] = before + one;
          from[end] = first;
        }
      }
      firsts.push(from);
      sums = next;
    }
    const total = ((sums[count] as number) + (passes - 1) * most) / passes;
    if (total >= (best?.ps ?? Number.POSITIVE_INFINITY)) continue;
    const found: number[] = [];
    for (let stage = stages - 1, end = count; stage >= 0; stage--) {
      end = firsts[stage]?.[end] as number;
      found.unshift(end);
    }
    best = { firsts: found, ps: total };
  }
  return best;
}
