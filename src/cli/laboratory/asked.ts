import { InputError } from "../../base/errors.ts";
import { type Laboratory, openLaboratory } from "../../lab/laboratory.ts";
import { type LabNetwork, labNetwork } from "../../lab/network.ts";
import { type Forwarding, forwardingOf } from "../../lab/paths.ts";
import { buildScript } from "../../lab/script.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import { MPI_COLLECTIVES } from "../../model/program/mpi-plan.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { MPI_FLAVOURS, type MpiToolchain, mpiToolchain } from "../../mpi/toolchain.ts";
import { type Options, optionValue, placeOf, wordOf } from "../../request/option-table.ts";
import { namedCollective } from "../../request/values.ts";
import { type Context, noteTaken } from "../context.ts";
import { networkOf } from "../network.ts";
import { simulatedPaths } from "./plans.ts";

/** A laboratory that is asked for. */
export interface AskedLaboratory {
  /** As it was asked for. */
  readonly topology: Topology;
  readonly network: LabNetwork;
  readonly toolchain: MpiToolchain;
  readonly forwarding: Forwarding;
  /** --rate says how fast the fastest link is. */
  readonly isRateGiven: boolean;
}

/** Returns the laboratory of a network that the options ask for. Throws InputError where there can be none. */
export async function askedLaboratory(context: Context, name: string): Promise<AskedLaboratory> {
  const { options } = context;
  const topology = await networkOf(name, options);
  noteTaken(context, topology);
  const rate = optionValue(options, "rate");
  const toolchain = mpiToolchain(wordOf(options, "mpi", MPI_FLAVOURS));
  return laboratoryOf(topology, toolchain, rate === undefined ? null : rate * 8);
}

/** Returns the laboratory of a topology whose fastest link has so many bits per second; null: what the machine should carry. */
export function laboratoryOf(
  topology: Topology,
  toolchain: MpiToolchain,
  fastestBitsPerSecond: number | null,
): AskedLaboratory {
  const network = labNetwork(topology, fastestBitsPerSecond);
  const forwarding = forwardingOf(network.topology, simulatedPaths(network.topology));
  return { topology, network, toolchain, forwarding, isRateGiven: fastestBitsPerSecond !== null };
}

/** Builds it. Throws InputError where this machine can have none. */
export function built(
  context: Pick<Context, "progress" | "signal">,
  { topology, network, forwarding }: AskedLaboratory,
): Promise<Laboratory> {
  context.progress({ what: "building the laboratory" });
  return openLaboratory(topology.name, buildScript(network, forwarding), context.signal);
}

/** Returns the collective of --collective; undefined without it. Throws InputError for one that MPI has no call of. */
export function mpiCollective(options: Options): NamedCollective | undefined {
  const text = optionValue(options, "collective");
  if (text === undefined) return undefined;
  const collective = namedCollective(text, placeOf("collective"));
  if (!(MPI_COLLECTIVES as readonly string[]).includes(collective))
    throw new InputError(placeOf("collective"), `one that MPI has (${MPI_COLLECTIVES.join(", ")})`, collective).as(
      "not-applicable",
    );
  return collective;
}
