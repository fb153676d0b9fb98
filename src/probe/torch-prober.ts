import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { InputError } from "../base/errors.ts";
import type { Prober } from "../model/probe/measurements.ts";
import { shellJob } from "./job.ts";
import { openJobProber, type ProberOptions } from "./job-prober.ts";

export const TORCH_BACKENDS = ["gloo", "nccl"] as const;
export type TorchBackend = (typeof TORCH_BACKENDS)[number];

/** Where processes of a probe over torch.distributed are. */
export interface TorchPlaces {
  readonly backend: TorchBackend;
  /** What starts all processes, in words of a shell: "torchrun --nproc-per-node 8"; */
  readonly launch?: string;
  /** or how many are to be started on this machine. */
  readonly processes?: number;
}

const SCRIPT = fileURLToPath(
  new URL(
    import.meta.url.includes("/command/cli/") ? "../../../scripts/torch-prober.py" : "../../scripts/torch-prober.py",
    import.meta.url,
  ),
);

/** Returns a Python that has PyTorch: BANYAN_PYTHON, or the first that has it of those that machines have. Throws InputError. */
function pythonWithTorch(): string {
  const own = process.env["BANYAN_PYTHON"];
  const tried = own === undefined ? ["python3", "/usr/bin/python3"] : [own];
  const found = tried.find((python) => spawnSync(python, ["-c", "import torch.distributed"]).status === 0);
  if (found !== undefined) return found;
  throw new InputError("PyTorch", "a Python that has it", tried.join(", ")).saying(
    `no PyTorch was found (${tried.join(", ")}): install it (pip install torch, Debian: python3-torch), or name a Python that has it in BANYAN_PYTHON`,
  );
}

/** A prober, and what removes its files. */
export interface OpenProber {
  readonly prober: Prober;
  close(): void;
}

/**
 * Returns a prober of processes of torch.distributed: endpoints are they, and with NCCL the memory of each host's NUMA nodes. Its lists
 * are files of this machine, which rank 0 must be on. Throws InputError where there is no PyTorch, or the job fails.
 */
export async function openTorchProber(
  { backend, launch, processes }: TorchPlaces,
  options: ProberOptions,
): Promise<OpenProber> {
  // a launcher knows its own Python: torchrun's
  const starts = launch ?? `'${pythonWithTorch()}'`;
  const folder = mkdtempSync(join(tmpdir(), "banyan-probe-"));
  const close = (): void => rmSync(folder, { recursive: true, force: true });
  const list = join(folder, "list");
  const here = launch === undefined ? ["--np", `${processes ?? 2}`] : [];
  try {
    const prober = await openJobProber((text) => {
      writeFileSync(list, text);
      return shellJob(starts, [SCRIPT, "--backend", backend, "--list", list, ...here], {});
    }, options);
    return { prober, close };
  } catch (error) {
    close();
    throw error;
  }
}
