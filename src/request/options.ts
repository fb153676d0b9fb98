import { InputError } from "../base/errors.ts";
import type { SwitchDegree } from "../model/routes/routing.ts";
import type { Sketch } from "../model/sketch/sketch.ts";
import type { TreeFlow } from "../model/trees/tree-flow.ts";
import type { SynthesisContext } from "../synthesize/synthesizer.ts";
import type { CollectiveOptions } from "./problem.ts";

/** Most copies of trees per root that can be asked for. */
const MOST_COPIES = 1e6;

export interface SynthesizeOptions extends Omit<CollectiveOptions, "chunks"> {
  /** Chunks per NPU, 1 without it; "auto": the number whose schedule is shortest. */
  readonly chunks?: number | "auto";
  /** One of `banyan list algorithms`; "tacos" without it; "auto": the best of those that apply. */
  readonly algorithm?: string;
  /**
   * With "auto": after so many milliseconds no further algorithm is tried; 10,000 without it. With algorithms that solve integer
   * programs: how long they may; 60,000 without it.
   */
  readonly timeLimitMs?: number;
  /** 0 .. 2^32 - 1; 1 without it. */
  readonly seed?: number;
  /** Most trials per phase; without it min(64, 1e7 / transfers). */
  readonly trials?: number;
  readonly policy?: string;
  /** Degree of unwinding of switches, or "ports". */
  readonly switchDegree?: SwitchDegree;
  /** Trees: copies per root; without it as many as the optimum needs; "auto": what is fastest at the size asked for. */
  readonly k?: number | "auto";
  /** Trees: false leaves what switches could duplicate and reduce out of the report. */
  readonly nvls?: boolean;
  /**
   * Trees on a network in which some node has more bandwidth in than out, or the reverse, which is refused without it.
   * "trim": use only so much of every link that all are balanced. "switches": ask balance of switches only.
   */
  readonly eulerian?: "trim" | "switches";
  /** Trees for this network before something failed: those that did not use it are kept. */
  readonly repair?: TreeFlow;
  /** Phases within dimensions: switches that can sum and duplicate do so. */
  readonly offload?: boolean;
  /** taccl: what the schedule may use. */
  readonly sketch?: Sketch;
  /** Simulate also above 1e8 transfers. */
  readonly simulate?: boolean;
  readonly switching?: "cut-through" | "store-and-forward";
  readonly signal?: AbortSignal;
  /** Told of trials done, and of the steps "limit", "synthesize", "verify", "simulate" and "bound" as they begin. */
  readonly onProgress?: SynthesisContext["onProgress"];
}

/** Throws InputError for a seed, number of trials or degree that is none. */
export function checkOptions(
  options: Pick<SynthesizeOptions, "seed" | "trials" | "switchDegree" | "k" | "eulerian" | "repair" | "timeLimitMs">,
): void {
  const { seed = 1, trials, switchDegree, k, eulerian, repair, timeLimitMs } = options;
  if (timeLimitMs !== undefined && !(timeLimitMs >= 0)) throw new InputError("--time-limit", "a time", timeLimitMs);
  if (!Number.isSafeInteger(seed) || seed < 0 || seed >= 2 ** 32)
    throw new InputError("--seed", "an integer in 0 .. 2^32 - 1", seed);
  if (trials !== undefined && (!Number.isSafeInteger(trials) || trials < 1 || trials > 1e6)) {
    throw new InputError("--trials", "an integer in 1 .. 1e6", trials);
  }
  if (
    switchDegree !== undefined &&
    switchDegree !== "ports" &&
    (!Number.isSafeInteger(switchDegree) || switchDegree < 1)
  ) {
    throw new InputError("--switch-degree", 'a positive integer or "ports"', switchDegree);
  }
  if (k !== undefined && k !== "auto" && (!Number.isSafeInteger(k) || k < 1 || k > MOST_COPIES)) {
    throw new InputError("--k", `trees per root, an integer in 1 .. ${MOST_COPIES}, or "auto"`, k);
  }
  if (k !== undefined && repair !== undefined) {
    throw new InputError("--k", "nothing beside --repair, which keeps the copies per root of the old trees,", k);
  }
  if (eulerian !== undefined && eulerian !== "trim" && eulerian !== "switches") {
    throw new InputError("--eulerian", '"trim" or "switches"', eulerian);
  }
}
