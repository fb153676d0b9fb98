import { describe, expect, it } from "vitest";
import { mpichAlgorithms, openMpiAlgorithms } from "../../src/lab/algorithms.ts";
import { withoutMeaningless } from "../../src/lab/job.ts";
import { launchCommand } from "../../src/lab/launch.ts";
import { labNetwork } from "../../src/lab/network.ts";
import { forwardingOf } from "../../src/lab/paths.ts";
import { hopFlows, nextRate, predictedTopology, startUpExperiments, startUpFigures } from "../../src/lab/start-up.ts";
import { readTimings, spreadOf } from "../../src/lab/timings.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { Experiment, Measurement } from "../../src/model/probe/measurements.ts";
import { isNpu } from "../../src/model/topology/topology.ts";
import { rails } from "../support/random-laboratories.ts";

/** What is said by programs in a laboratory, and what is made of it. */

const flowsOf = (name: string) => {
  const network = labNetwork(typeof name === "string" ? presetTopology(name) : name, 8e7);
  return { network, flows: hopFlows(network.topology, forwardingOf(network.topology, [])) };
};

describe("flows between neighbours", () => {
  it.each(["ring:4", "torus:3x3", "hypercube:3"])("of %s are its links, each once", (name) => {
    const { network, flows } = flowsOf(name);
    expect(flows.map(({ links }) => links[0]).sort((a, b) => (a as number) - (b as number))).toEqual(
      Array.from(network.topology.linkSource.keys()),
    );
  });

  it("through switches share no links, and leave none unused that another could take", () => {
    for (const topology of [presetTopology("switch:6"), rails(2, 4, 50_000_000)]) {
      const network = labNetwork(topology, null);
      const flows = hopFlows(network.topology, forwardingOf(network.topology, []));
      const used = flows.flatMap(({ links }) => links);
      expect(new Set(used).size).toBe(used.length);
      for (const { source, target } of flows) expect(isNpu(topology, source) && isNpu(topology, target)).toBe(true);
      expect(used.length).toBe(network.topology.linkSource.length);
    }
  });
});

describe("the rate of a laboratory", () => {
  const network = labNetwork(presetTopology("ring:8"), 1e8);

  it("stays where the machine carries all links at once, and else falls by thirds until it does, and once more", () => {
    expect(nextRate(network, [0.93])).toBeNull();
    expect(nextRate(network, [0.8])).toBe(6.6e7);
    expect(nextRate(network, [0.8, 0.94])).toBe(6.6e7);
    expect(nextRate(network, [0.8, 0.94, 0.94])).toBeNull();
    expect(nextRate(network, [0.8, 0.94, 0.9])).toBe(6.6e7);
    expect(nextRate(network, [0.8, 0.81, 0.82, 0.83])).toBe(6.6e7);
    expect(nextRate(network, [0.8, 0.81, 0.82, 0.83, 0.84])).toBeNull();
  });

  it("stays where links would get too slow, and where there are too many of them for times", () => {
    expect(nextRate(labNetwork(presetTopology("ring:8"), 20_000), [0.5])).toBeNull();
    expect(nextRate(labNetwork(presetTopology("torus:5x5"), null), [0.5])).toBeNull();
  });
});

describe("figures of the start", () => {
  const { network, flows } = flowsOf("ring:4");
  const delay = () => 0.002;
  const answers = (small: number, share: number): Measurement[] => {
    const [few, many] = startUpExperiments(flows, 8e7) as [Experiment, Experiment];
    const times = (experiment: Experiment, ...repeats: number[]): Measurement => ({
      experiment,
      seconds: Float64Array.from(repeats.flatMap((seconds) => flows.map(() => seconds))),
    });
    const bulk = 0.002 + small + many.bytes / share / 1e7;
    return [times(few, 0.002 + small, 0.5, 0.002 + small), times(many, bulk)];
  };

  it("are the median of small messages without delays, and the share of large ones", () => {
    const { hopSeconds, payloadShare } = startUpFigures(answers(1e-4, 0.93), flows, network, delay);
    expect(hopSeconds).toBeCloseTo(1e-4, 9);
    expect(payloadShare).toBeCloseTo(0.93, 9);
    const { linkBytesPerSecond, linkLatencyPs } = predictedTopology(
      network.topology,
      { hopSeconds, payloadShare },
      delay,
    );
    expect([...linkBytesPerSecond]).toEqual(Array(8).fill(9_300_000));
    expect([...linkLatencyPs]).toEqual(Array(8).fill(2_100_000_000));
  });
});

describe("what programs print", () => {
  it("is a time for each size, lines of launchers aside", () => {
    const line = '{"collective":"allgather","bytes":64,"used":64,"seconds":[0.2,0.1],"right":true}';
    expect(readTimings(`Authorization required\n${line}\n{"collective":\n`)).toEqual([
      { sizeBytes: 64, seconds: [0.2, 0.1], right: true },
    ]);
  });

  it("has a median between its ends", () => {
    expect(spreadOf([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3, count: 3 });
    expect(spreadOf([4, 1, 2, 3])).toEqual({ median: 2.5, min: 1, max: 4, count: 4 });
  });

  it("without what Open MPI says of process groups", () => {
    expect(withoutMeaningless("a\n[x] plm:rsh: Warning: setpgid(1,1) failed\nb\n")).toBe("a\nb\n");
  });
});

describe("algorithms of libraries", () => {
  const LISTED = [
    "mca:coll:tuned:param:coll_tuned_allgather_algorithm:value:ignore",
    "mca:coll:tuned:param:coll_tuned_allgather_algorithm:enumerator:value:0:ignore",
    "mca:coll:tuned:param:coll_tuned_allgather_algorithm:enumerator:value:1:linear",
    "mca:coll:tuned:param:coll_tuned_allgather_algorithm:enumerator:value:6:two_proc",
    "mca:coll:tuned:param:coll_tuned_allgatherv_algorithm:enumerator:value:1:default",
  ].join("\n");

  it("are those that Open MPI lists for the collective, those for two processes for two", () => {
    const linear = { coll_tuned_use_dynamic_rules: "1", coll_tuned_allgather_algorithm: "1" };
    expect(openMpiAlgorithms(LISTED, "allgather", 4)).toEqual([{ name: "linear", settings: linear }]);
    expect(openMpiAlgorithms(LISTED, "allgather", 2).map(({ name }) => name)).toEqual(["linear", "two_proc"]);
    expect(openMpiAlgorithms(LISTED, "alltoall", 4)).toEqual([]);
  });

  it("are variables of MPICH", () => {
    expect(mpichAlgorithms("allgather").map(({ name }) => name)).toEqual(["brucks", "recursive_doubling", "ring"]);
    expect(mpichAlgorithms("barrier")).toEqual([]);
  });
});

describe("a job", () => {
  const program = ["./program", "argument"];
  const of = (flavour: "openmpi" | "mpich") => ({ flavour, compiler: "mpicxx", launcher: "mpirun", version: "" });

  it("has a process on each NPU, over the network that is measured", () => {
    const { command } = launchCommand({ toolchain: of("openmpi"), npuCount: 3, program, env: { A: "b" } });
    const line = command.join(" ");
    expect(line).toMatch(/^mpirun -np 3 --host 10\.99\.0\.1,10\.99\.0\.2,10\.99\.0\.3 .*-x A=b \.\/program argument$/);
    expect(line).toContain("--mca btl_tcp_if_include nic0");
    const hydra = launchCommand({ toolchain: of("mpich"), npuCount: 3, program, env: { A: "b" } });
    expect(hydra.command.join(" ")).toMatch(/^mpirun -n 3 .*-genv A b \.\/program argument$/);
    expect(hydra.env).toMatchObject({ UCX_NET_DEVICES: "nic0" });
  });
});
