import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { Experiment } from "../../src/model/probe/measurements.ts";
import { mpiToolchains } from "../../src/mpi/toolchain.ts";
import { runJob, shellJob } from "../../src/probe/job.ts";
import { openJobProber } from "../../src/probe/job-prober.ts";
import { openMpiProber } from "../../src/probe/mpi-prober.ts";
import { openTorchProber } from "../../src/probe/torch-prober.ts";
import { pythonWithTorch } from "../support/python-run.ts";

/** Jobs that measure: real processes, where MPI or torch is installed. What they take is not judged here. */

const signal = new AbortController().signal;
const TIMEOUT = 120_000;
const flow = (source: number, target: number) => ({ source, target });
const EXPERIMENTS: readonly Experiment[] = [
  { bytes: 0, repeats: 2, flows: [flow(0, 1)] },
  { bytes: 100_001, repeats: 3, flows: [flow(1, 2)] },
  // each sends to both others, two flows of one pair among them
  {
    bytes: 300_000,
    repeats: 2,
    flows: [flow(0, 1), flow(0, 2), flow(1, 0), flow(1, 2), flow(2, 0), flow(2, 1), flow(2, 1)],
  },
  { bytes: 5_000_000, repeats: 1, flows: [flow(2, 0)] },
];

describe("jobs", () => {
  it("give their lines, their exit code, and the first line of their errors", async () => {
    const lines: string[] = [];
    const job = shellJob("cat; echo no such host >&2; false", [], { input: "one\ntwo\nhalf" });
    const ended = await runJob(job, { signal, onLine: (line) => lines.push(line) });
    expect(lines).toEqual(["one", "two"]);
    expect(ended).toEqual({ code: 1, error: "no such host" });
  });

  it("that say nothing are ended with all that they started", { timeout: TIMEOUT }, async () => {
    const seconds = `${80_000 + process.pid}.5`;
    const job = shellJob(`echo waiting >&2; sleep ${seconds} & sleep ${seconds}; true`, [], {});
    await expect(runJob(job, { signal, silenceMs: 300, onLine: () => undefined })).rejects.toThrow(
      /said nothing .* waiting/,
    );
    expect(spawnSync("ps", ["ax", "-o", "args"], { encoding: "utf8" }).stdout.includes(`\nsleep ${seconds}`)).toBe(
      false,
    );
  });

  it("that have said all are ended where they do not end by themselves", { timeout: TIMEOUT }, async () => {
    const seconds = `${90_000 + process.pid}.5`;
    let said = "";
    const onLine = (line: string): void => {
      said = line;
    };
    await runJob(shellJob(`echo all; sleep ${seconds} & sleep ${seconds}`, [], {}), {
      ...{ signal, onLine, isDone: () => said === "all" },
    });
    expect(spawnSync("ps", ["ax", "-o", "args"], { encoding: "utf8" }).stdout).not.toContain(`\nsleep ${seconds}`);
  });

  it("are ended when they are cancelled, or a line is refused", { timeout: TIMEOUT }, async () => {
    const stop = new AbortController();
    const cancelled = runJob(shellJob("echo here; sleep 1000", [], {}), {
      signal: stop.signal,
      onLine: () => stop.abort(),
    });
    await expect(cancelled).rejects.toThrow("cancelled");
    await expect(runJob(shellJob("true", [], {}), { signal: stop.signal, onLine: () => undefined })).rejects.toThrow(
      "cancelled",
    );
    const refused = runJob(shellJob("echo here; sleep 1000", [], {}), {
      signal,
      onLine: (line) => {
        throw new Error(`not ${line}`);
      },
    });
    await expect(refused).rejects.toThrow("not here");
  });

  it.each([
    ["no-such-launcher -np 2", /no-such-launcher -np 2 did not measure to the end: .*not found/],
    ["sh -c 'echo banyan-probe {}' #", /sh -c/],
    [`sh -c 'echo banyan-probe \\{\\"refused\\":\\"why not\\"\\}' #`, /why not/],
    ["true #", /did not measure to the end: it ended with exit code 0/],
  ])("that do not measure are refused in one sentence: %s", async (launch, sentence) => {
    await expect(openJobProber((input) => shellJob(launch, [], { input }), { signal })).rejects.toThrow(sentence);
  });
});

for (const { flavour, version } of mpiToolchains())
  describe(`probes over ${version}`, () => {
    const asked = { signal };

    it("measure every flow of every repeat", { timeout: TIMEOUT }, async () => {
      const progress: number[] = [];
      const prober = await openMpiProber(
        { flavour, processes: 3 },
        { ...asked, onProgress: ({ done, total }) => progress.push(done / total) },
      );
      expect(prober.endpoints.map(({ kind, name }) => `${kind} ${name}`)).toEqual(["npu 0", "npu 1", "npu 2"]);
      expect(new Set(prober.endpoints.map(({ host }) => host)).size).toBe(1);
      const measured = await prober.measure(EXPERIMENTS);
      expect(measured.map(({ experiment }) => experiment)).toEqual(EXPERIMENTS);
      for (const { experiment, seconds } of measured) {
        expect(seconds.length).toBe(experiment.repeats * experiment.flows.length);
        for (const time of seconds) expect(time > 0 || experiment.bytes === 0).toBe(true);
      }
      expect(progress.at(-1)).toBe(1);
      expect(await prober.measure([])).toEqual([]);
    });

    it("refuse flows to ranks that there are not, and a single process", { timeout: TIMEOUT }, async () => {
      const prober = await openMpiProber({ flavour, processes: 2 }, asked);
      await expect(prober.measure([{ bytes: 1, repeats: 1, flows: [flow(0, 2)] }])).rejects.toThrow("ranks 0 to 1");
      await expect(prober.measure([{ bytes: 1, repeats: 1, flows: [flow(1, 1)] }])).rejects.toThrow("to itself");
      await expect(prober.measure([{ bytes: 1, repeats: 0, flows: [flow(0, 1)] }])).rejects.toThrow("repeats");
      await expect(openMpiProber({ flavour, processes: 1 }, asked)).rejects.toThrow("2 or more");
    });

    it("end where a process dies, with the launcher's word", { timeout: TIMEOUT }, async () => {
      const launcher = mpiToolchains().find((one) => one.flavour === flavour)?.launcher;
      const more = flavour === "openmpi" ? "--oversubscribe" : "";
      const launch = `${launcher} ${more} -np 2 sh -c 'test "\${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 && kill -9 $$; exec "$@"' sh`;
      await expect(openMpiProber({ flavour, launch }, asked)).rejects.toThrow(/did not measure to the end: \S/);
    });
  });

const torch = pythonWithTorch();
describe.skipIf(torch === null)(`probes over torch.distributed${torch === null ? ": no PyTorch here" : ""}`, () => {
  it("measure every flow of every repeat over gloo", { timeout: TIMEOUT }, async () => {
    const { prober, close } = await openTorchProber({ backend: "gloo", processes: 3 }, { signal });
    try {
      expect(prober.endpoints.map(({ kind, name }) => `${kind} ${name}`)).toEqual(["npu 0", "npu 1", "npu 2"]);
      const measured = await prober.measure(EXPERIMENTS);
      for (const { experiment, seconds } of measured)
        expect(seconds.length).toBe(experiment.repeats * experiment.flows.length);
      await expect(prober.measure([{ bytes: 1, repeats: 1, flows: [flow(0, 3)] }])).rejects.toThrow("cannot be sent");
    } finally {
      close();
    }
  });

  it("say what is missing: processes, GPUs, a launcher's variables", { timeout: TIMEOUT }, async () => {
    await expect(openTorchProber({ backend: "gloo", processes: 1 }, { signal })).rejects.toThrow("2 processes or more");
    await expect(openTorchProber({ backend: "gloo", launch: `env -u RANK ${torch}` }, { signal })).rejects.toThrow(
      "--np",
    );
  });
});
