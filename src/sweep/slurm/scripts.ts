/** Returns a word as a shell reads it. */
const quoted = (word: string): string => (/^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

const jobName = (name: string): string => name.replace(/[^\w.-]+/g, "-").slice(0, 40) || "sweep";

/** Returns the script of a job array whose element k does share k of a sweep's tasks, without a server. */
export function arrayScript({
  name,
  shares,
  job,
  command,
  folder,
  log,
}: {
  readonly name: string;
  readonly shares: number;
  readonly job: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly folder: string;
  /** File of what an element says; %a is its number. */
  readonly log: string;
}): string {
  return `#!/bin/bash
#SBATCH --job-name=banyan-${jobName(name)}
#SBATCH --array=1-${shares}
#SBATCH --output=${log.replaceAll(" ", "\\ ")}
#SBATCH --open-mode=append
#SBATCH --requeue
${Object.entries(job)
  .map(([option, value]) => `#SBATCH --${option}=${value}\n`)
  .join("")}
# Each element does its share of the sweep's tasks, and goes on where it was when it is started again.
exec ${command.map(quoted).join(" ")} worker ${quoted(folder)} --share "$SLURM_ARRAY_TASK_ID/${shares}" \\
  --concurrency "\${SLURM_CPUS_PER_TASK:-1}"
`;
}

/** Returns the script of a job whose tasks are long-lived workers of a queue. The password is not in it: see its comment. */
export function workersScript({
  address,
  command,
  args,
}: {
  /** The server's address, without user and password. */
  readonly address: string;
  readonly command: readonly string[];
  /** Options of the workers. */
  readonly args: readonly string[];
}): string {
  return `#!/bin/bash
#SBATCH --job-name=banyan-workers
#SBATCH --ntasks=1
#SBATCH --output=banyan-workers-%j.log
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=TERM@60

# sbatch --ntasks=64 --cpus-per-task=4 --time=12:00:00 THIS: 64 workers. Slurm only starts them: tasks come from the queue.
# The server's password: export BANYAN_REDIS_PASSWORD before sbatch, or name a file that only you can read:
# export BANYAN_REDIS_PASSWORD_FILE=$HOME/.banyan-redis
exec srun ${command.map(quoted).join(" ")} worker ${[address, ...args].map(quoted).join(" ")} \\
  --concurrency "\${SLURM_CPUS_PER_TASK:-1}"
`;
}
