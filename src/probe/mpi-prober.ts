import type { Prober } from "../model/probe/measurements.ts";
import { builtMpi, type MpiFlavour, mpiToolchain } from "../mpi/toolchain.ts";
import { shellJob } from "./job.ts";
import { openJobProber, type ProberOptions } from "./job-prober.ts";

/** Where processes of a probe over MPI are. */
export interface MpiPlaces {
  /** The library; the one of `mpirun` where it is not said. */
  readonly flavour?: MpiFlavour;
  /** What starts all processes, in words of a shell; */
  readonly launch?: string;
  /** or how many are to be started on this machine. */
  readonly processes?: number;
}

/** A launcher's words for processes on this machine, more than it has cores too. */
const HERE: Readonly<Record<MpiFlavour, (processes: number) => string>> = {
  openmpi: (processes) => `--oversubscribe -np ${processes}`,
  mpich: (processes) => `-np ${processes}`,
};

/** Open MPI asks root, which everyone is in a container, to say so. */
const AS_ROOT = { OMPI_ALLOW_RUN_AS_ROOT: "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1" };

/**
 * Returns a prober of MPI processes; its program is compiled for the library unless that was done before. Throws InputError where
 * there is no library, the compiler fails, or the job does.
 */
export async function openMpiProber(
  { flavour, launch, processes }: MpiPlaces,
  options: ProberOptions,
): Promise<Prober> {
  const toolchain = mpiToolchain(flavour);
  const program = await builtMpi(toolchain, "probe");
  const starts = launch ?? `${toolchain.launcher} ${HERE[toolchain.flavour](processes ?? 2)}`;
  return openJobProber((input) => shellJob(starts, [program], { input, environment: AS_ROOT }), options);
}
