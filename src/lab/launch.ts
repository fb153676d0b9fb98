import type { MpiFlavour, MpiToolchain } from "../mpi/toolchain.ts";
import { DATA_DEVICE, MANAGEMENT_DEVICE, managementAddress } from "./addresses.ts";
import { LAB_FOLDER } from "./script.ts";

/** How a program is started in a laboratory. */
export interface Launch {
  readonly toolchain: MpiToolchain;
  readonly npuCount: number;
  /** What every process runs. */
  readonly program: readonly string[];
  /** Variables that every process has, besides those of this one. */
  readonly env?: Readonly<Record<string, string>>;
  /** Open MPI: parameters besides the usual ones. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** Parameters of Open MPI: processes are started over one network and speak over the other, by TCP. */
const OPEN_MPI: Readonly<Record<string, string>> = {
  plm_rsh_agent: `${LAB_FOLDER}/agent`,
  plm_rsh_no_tree_spawn: "1",
  oob_tcp_if_include: MANAGEMENT_DEVICE,
  btl: "tcp,self",
  btl_tcp_if_include: DATA_DEVICE,
  pml: "ob1",
  coll_hcoll_enable: "0",
  mpi_yield_when_idle: "1",
  hwloc_base_binding_policy: "none",
  orte_base_help_aggregate: "1",
};

/** Variables without which the libraries refuse to run as the one user that a laboratory has. */
const ENVIRONMENT: Readonly<Record<MpiFlavour, Readonly<Record<string, string>>>> = {
  openmpi: { OMPI_ALLOW_RUN_AS_ROOT: "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1" },
  mpich: { UCX_TLS: "tcp,self", UCX_NET_DEVICES: DATA_DEVICE },
};

/** Returns the command that starts one process on each NPU, process r on NPU r, and the variables that it needs; for NPU 0. */
export function launchCommand({ toolchain, npuCount, program, env = {}, parameters = {} }: Launch): {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
} {
  const { flavour, launcher } = toolchain;
  const hosts = Array.from({ length: npuCount }, (_, npu) => managementAddress(npu)).join(",");
  const given = Object.entries(env);
  if (flavour === "openmpi") {
    const all = Object.entries({ ...OPEN_MPI, ...parameters }).flatMap(([name, value]) => ["--mca", name, value]);
    const variables = given.flatMap(([name, value]) => ["-x", `${name}=${value}`]);
    const size = ["-np", `${npuCount}`, "--host", hosts];
    return { command: [launcher, ...size, ...all, ...variables, ...program], env: ENVIRONMENT.openmpi };
  }
  const size = ["-n", `${npuCount}`, "-ppn", "1", "-hosts", hosts];
  const own = ["-launcher", "ssh", "-launcher-exec", `${LAB_FOLDER}/agent`, "-localhost", managementAddress(0)];
  const variables = given.flatMap(([name, value]) => ["-genv", name, value]);
  return {
    command: [launcher, ...size, ...own, "-iface", MANAGEMENT_DEVICE, ...variables, ...program],
    env: ENVIRONMENT.mpich,
  };
}
