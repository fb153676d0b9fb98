import { InputError } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import type { HostOfRank } from "../model/program/mpi-plan.ts";
import type { Program } from "../model/program/program.ts";
import type { RuntimeName } from "../model/program/runtime-names.ts";
import { algorithmOrAuto } from "../synthesize/catalog.ts";
import { hostsOf } from "./hosts.ts";
import { refuseUntaken } from "./maker-options.ts";
import {
  type OptionId,
  type Options,
  optionsOf,
  optionValue,
  placeOf,
  refuseOptions,
  requestOf,
  textOf,
} from "./option-table.ts";
import type { SynthesizeOptions } from "./options.ts";
import type { CollectiveOptions } from "./problem.ts";
import { namedCollective } from "./values.ts";

/** Requests made of options as they were written: on the command line, in the page's form, in an address. */

/** Returns what options say of who takes part, and in how many chunks; a number of chunks left to trial says nothing of that. */
export function membershipOf(options: Options): Omit<CollectiveOptions, "collective" | "sizeBytes"> {
  const ids: OptionId[] = ["root", "group", "outsiders"];
  return requestOf(options, options["chunks"] === "auto" ? ids : ["chunks", ...ids]);
}

/** Returns the request for a collective of a name, with its size and members. `others`: what else could be named. Throws InputError. */
export const namedRequest = (name: string, options: Options, others: readonly string[] = []): CollectiveOptions => ({
  collective: namedCollective(name, optionName("collective"), others),
  ...requestOf(options, ["size"]),
  ...membershipOf(options),
});

/** Options whose files the command line reads. */
const OF_FILES: readonly OptionId[] = ["sketch", "repair"];
const MAKING = optionsOf("making").filter((id) => !OF_FILES.includes(id));

/** Returns what options say of the synthesis, beside the collective. Throws InputError. */
export function synthesisOptions(options: Options): Omit<SynthesizeOptions, "collective"> {
  const algorithm = textOf(options, "algorithm");
  const wanted: Omit<SynthesizeOptions, "collective"> = {
    ...(options["chunks"] === "auto" ? { chunks: "auto" } : {}),
    ...(algorithm === undefined ? {} : { algorithm: algorithmOrAuto(algorithm) }),
    ...requestOf(options, MAKING),
  };
  // people are asked what they meant; callers of the API may hand the same options to every algorithm
  const { trials, switchDegree } = wanted;
  if (algorithm !== undefined)
    refuseUntaken({
      algorithm,
      ...(trials !== undefined && { trials }),
      ...(switchDegree !== undefined && { switchDegree }),
    });
  return wanted;
}

/** How a schedule becomes a program. */
export interface ProgramOptions {
  readonly runtime: RuntimeName;
  /** In place, out of place, or fit for either; default: either where the runtime's files can say so. */
  readonly placement?: "in" | "out" | "both";
  /** Every chunk is cut into this many, each with its own thread blocks and channels; default 1, for MSCCL++ what keeps 8 blocks busy. */
  readonly instances?: number;
  /** Trees: parts into which each tree's data is cut, 1 to 64; more fill pipelines of large sizes, fewer suit small ones. */
  readonly parts?: number;
  /** MSCCL: thread blocks on a GPU that trees may have without sharing; default 100. An H100 has room for 132. */
  readonly threadBlocks?: number;
  /** MSCCL: trees as lanes of blocks, or as steps. */
  readonly lanes?: boolean;
  /** MSCCL: symmetric trees as the steps of one piece, which one rank stands for where they are many. */
  readonly whole?: boolean;
  /** MSCCL, steps: what goes together in one instruction, and whether blocks pass on what they receive; see MscclLowering. */
  readonly joining?: "apart" | "under way" | "ready";
  readonly passing?: boolean;
  /** MSCCL, steps: the order of transfers; as the network would have them without it, which is not slower than planned. */
  readonly order?: "simulated" | "planned";
  readonly protocol?: Program["protocol"];
  /** MPI: connections between two ranks, and bytes of a message at most; see MpiLowering. */
  readonly connections?: number;
  readonly segmentBytes?: number;
  /** MPI: [NPUs] the host that each runs on, and which of the job's processes there it is; default: NPU r is process r. */
  readonly hosts?: readonly HostOfRank[];
  readonly name?: string;
  /** MSCCL++: let switches that can duplicate and sum messages; default true. */
  readonly throughSwitch?: boolean;
  /** MSCCL++: whether contributions are read from peers' memory rather than written, and among how many blocks work is dealt; see PlanOptions. */
  readonly reads?: boolean;
  readonly slices?: number;
  /** Sizes that the runtime may use it for, both included; default: all. */
  readonly minBytes?: number;
  readonly maxBytes?: number;
  /** Bytes per second that a thread block moves in the simulation of programs; default: as many as its links. */
  readonly blockBytesPerSecond?: number;
}

/** As ProgramOptions; "auto" instances: as many as are fastest if a thread block moves no more than NCCL counts for one. */
export interface WantedProgram extends Omit<ProgramOptions, "instances"> {
  readonly instances?: number | "auto";
}

/** Throws InputError for options of programs that mean nothing to what is written. `what` names it. */
export const refuseProgramOptions = (options: Options, taken: readonly OptionId[], what: string): void =>
  refuseOptions(
    options,
    optionsOf("program").filter((id) => !taken.includes(id)),
    `nothing beside ${what}`,
  );

/** Returns what options say of programs. Throws InputError. */
export function programOptions(options: Options, runtime: RuntimeName): WantedProgram {
  const hosts = hostsOf(options);
  return {
    runtime,
    ...requestOf(options, ["placement", "protocol", "instances", "parts", "threadBlocks"]),
    ...(options["nvls"] === false ? { throughSwitch: false } : {}),
    ...(hosts === null ? {} : { hosts }),
    ...rangeOf(options),
  };
}

/** Returns the range of sizes that options say. Throws InputError. */
export function rangeOf(options: Options): Pick<ProgramOptions, "minBytes" | "maxBytes"> {
  const [minBytes = 0, maxBytes] = [optionValue(options, "minBytes"), optionValue(options, "maxBytes")];
  if (maxBytes !== undefined && maxBytes < minBytes) {
    const expected = `${textOf(options, "minBytes")} or more, as ${placeOf("minBytes")} says,`;
    throw new InputError(placeOf("maxBytes"), expected, textOf(options, "maxBytes")).as("out-of-range");
  }
  return { ...(minBytes === 0 ? {} : { minBytes }), ...(maxBytes === undefined ? {} : { maxBytes }) };
}

/** Returns the dialect of MSCCL XML. Throws InputError. */
export const dialectOf = (options: Options): "msccl" | "azure" | "rccl" => optionValue(options, "dialect") ?? "azure";
