import { InputError } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import type { MakerOptions } from "../synthesize/maker.ts";
import type { SynthesisContext } from "../synthesize/synthesizer.ts";
import { checkRequest } from "./option-table.ts";
import type { CollectiveOptions } from "./problem.ts";

export interface SynthesizeOptions extends Omit<CollectiveOptions, "chunks">, MakerOptions {
  /** Chunks per NPU, 1 without it; "auto": the number whose schedule is shortest. */
  readonly chunks?: number | "auto";
  /** One of `banyan list algorithms`; "tacos" without it; "auto": the best of those that apply. */
  readonly algorithm?: string;
  /** 0 .. 2^32 - 1; 1 without it. */
  readonly seed?: number;
  readonly policy?: string;
  /** Simulate also above 1e8 transfers. */
  readonly simulate?: boolean;
  readonly switching?: "cut-through" | "store-and-forward";
  readonly signal?: AbortSignal;
  /** Told of trials done, and of the steps "limit", "synthesize", "verify", "simulate" and "bound" as they begin. */
  readonly onProgress?: SynthesisContext["onProgress"];
}

/** Throws InputError for a value of a request that is none of its option's, and for copies beside a repair, which has its own, or a share of trees to keep without one. */
export function checkOptions(options: Partial<SynthesizeOptions>): void {
  checkRequest(options);
  const { k, repair, keepShare } = options;
  if (keepShare !== undefined && repair === undefined)
    throw new InputError(optionName("keepShare"), `${optionName("repair")} with a schedule of trees beside it`).as(
      "not-alone",
    );
  if (k === undefined || repair === undefined) return;
  const expected = `nothing beside ${optionName("repair")}, which keeps the copies per root of the old trees,`;
  throw new InputError(optionName("k"), expected, k).as("not-together");
}
