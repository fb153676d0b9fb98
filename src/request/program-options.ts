import { InputError } from "../base/errors.ts";
import { parseSize } from "../model/numbers/units.ts";
import type { Program } from "../model/program/program.ts";
import type { RuntimeName } from "../model/program/runtimes.ts";
import type { Options } from "./option-texts.ts";
import { oneOf, refuseOptions, textOf, wholeNumber } from "./values.ts";

/** Whoever has the options. */
interface Holder {
  readonly options: Options;
}

/** Options that say what a program is like. */
export type ProgramOption =
  | "dialect"
  | "placement"
  | "instances"
  | "parts"
  | "threadBlocks"
  | "protocol"
  | "minBytes"
  | "maxBytes"
  | "view";
const PROGRAM_OPTIONS: readonly ProgramOption[] = [
  "dialect",
  "parts",
  "threadBlocks",
  "view",
  "placement",
  "instances",
  "protocol",
  "minBytes",
  "maxBytes",
];

/** Throws InputError for options of programs that mean nothing to what is written. `what` names it. */
export const refuseProgramOptions = ({ options }: Holder, taken: readonly ProgramOption[], what: string): void =>
  refuseOptions(
    options,
    PROGRAM_OPTIONS.filter((name) => !taken.includes(name)),
    `nothing beside ${what}`,
  );

const PROTOCOLS = ["Simple", "LL", "LL128"] as const;

/** Returns the protocol of a name in any case. */
const protocolOf = (name: string | undefined): (typeof PROTOCOLS)[number] | undefined =>
  PROTOCOLS.find((protocol) => protocol.toLowerCase() === name?.toLowerCase()) ?? oneOf(name, PROTOCOLS, "--protocol");

/** Returns what the options say of programs. Throws InputError. */
export function programOptions({ options }: Holder, runtime: ProgramOptions["runtime"]): ProgramOptions {
  const placement = oneOf(textOf(options, "placement"), ["in", "out", "both"] as const, "--placement");
  const protocol = protocolOf(textOf(options, "protocol"));
  const parts = wholeNumber(textOf(options, "parts"), "--parts", 1);
  const threadBlocks = wholeNumber(textOf(options, "threadBlocks"), "--thread-blocks", 1);
  const instances = wholeNumber(textOf(options, "instances"), "--instances", 1);
  return {
    runtime,
    ...(placement === undefined ? {} : { placement }),
    ...(protocol === undefined ? {} : { protocol }),
    ...(instances === undefined ? {} : { instances }),
    ...(parts === undefined ? {} : { parts }),
    ...(threadBlocks === undefined ? {} : { threadBlocks }),
    ...(options["nvls"] === false ? { throughSwitch: false } : {}),
    ...rangeOf({ options }),
  };
}

/** Returns the range of sizes that the options say. Throws InputError. */
export function rangeOf({ options }: Holder): {
  readonly minBytes?: number;
  readonly maxBytes?: number;
} {
  const [min, max] = [textOf(options, "minBytes"), textOf(options, "maxBytes")];
  const minBytes = min === undefined || min === "0" ? undefined : parseSize(min, "--min-bytes");
  const maxBytes = max === undefined ? undefined : parseSize(max, "--max-bytes");
  if (maxBytes !== undefined && maxBytes < (minBytes ?? 0))
    throw new InputError("--max-bytes", `${min} or more, as --min-bytes says,`, max);
  return { ...(minBytes === undefined ? {} : { minBytes }), ...(maxBytes === undefined ? {} : { maxBytes }) };
}

/** Returns the dialect of MSCCL XML. Throws InputError. */
export const dialectOf = ({ options }: Holder): "msccl" | "azure" | "rccl" =>
  oneOf(textOf(options, "dialect"), ["msccl", "azure", "rccl"] as const, "--dialect") ?? "azure";

/** How a schedule becomes a program. */
export interface ProgramOptions {
  readonly runtime: RuntimeName;
  /** In place, out of place, or fit for either; default: either where the runtime's files can say so. */
  readonly placement?: "in" | "out" | "both";
  /** Every chunk is cut in so many, each with its own thread blocks and channels; default 1, for MSCCL++ what keeps 8 blocks busy. */
  readonly instances?: number;
  /** MSCCL, trees: parts into which each tree's data is cut, 1 to 64; more fill pipelines of large sizes, fewer suit small ones. */
  readonly parts?: number;
  /** MSCCL: thread blocks on a GPU that trees may have without sharing; default 100. An H100 has room for 132. */
  readonly threadBlocks?: number;
  readonly protocol?: Program["protocol"];
  readonly name?: string;
  /** MSCCL++: let switches that can duplicate and sum messages; default true. */
  readonly throughSwitch?: boolean;
  /** Sizes that the runtime may use it for, both included; default: all. */
  readonly minBytes?: number;
  readonly maxBytes?: number;
}
