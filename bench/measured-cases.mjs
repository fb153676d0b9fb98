// Measured calls as sums of parts: what of a call's time grows with messages, bytes on the bottleneck, bytes summed. Whoever calls
// hands the library over, so that the bench measures what was built and the tests what the sources say.
import { NETWORKS } from "./measured-networks.mjs";
import { fitParts, partedUs } from "./measured-parts.mjs";

export const ROWS = new URL("./measured-rows.csv", import.meta.url);

/** From here on bandwidth rules. */
export const LARGE = 16 * 2 ** 20;
/** Longer messages are agreed upon before they are sent (MPI's rendezvous), by what libraries ship: 8 to 64 KiB. */
const RENDEZVOUS = 16 * 2 ** 10;

/**
 * Returns the measured series: network, collective, algorithm, ports (0: of a library that does not know the network), ranks, the
 * name it was run by, its address, and points of bytes and us. "fastest" is no algorithm: the best that the run measured.
 */
export function measuredRows(text) {
  return text
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => {
      const [network, collective, algorithm, ports, ranks, runAs, source, points] = line.split(",");
      const pairs = points.split(" ").map((point) => point.split(":").map(Number));
      return {
        network,
        collective,
        algorithm,
        ports: Number(ports),
        ranks: Number(ranks),
        runAs,
        source,
        points: pairs,
      };
    });
}

/** Collects parts by their names, each with the figure that public pages say (0: pages do not tell of it). */
function partList() {
  const parts = [];
  return {
    parts,
    of(name, label) {
      const known = parts.findIndex((part) => part.name === name);
      return known >= 0 ? known : parts.push({ name, label }) - 1;
    },
  };
}

/** uTofu's own algorithms that pass on parts of the data take a new part of memory for each message. */
const registers = ({ algorithm, collective, ports }) =>
  ports > 0 && !(algorithm.endsWith("doubling") && collective === "allreduce") && !algorithm.endsWith("binomial");

/** Returns the parts of MPI's calls between CPUs: [part, us for a figure of 1] of every size. */
function mpiCosts(lib, network, row, list) {
  const topology = lib.presetTopology(network.topology);
  const { algorithm, collective } = row;
  const direct = topology.shape.length > 1;
  const ports = Math.max(1, row.ports);
  const rounds = lib.mpiRounds(topology, { algorithm, collective, ports, unaware: row.ports === 0 });
  const sum = (of) => rounds.reduce((total, round) => total + round.times * of(round), 0);
  const usPerByte = 1e6 / topology.linkBytesPerSecond[0];
  return (bytes) =>
    [
      ["call", 0, 1],
      ["message", network.message, ports * sum(() => 1)],
      ["rendezvous", 0, sum(({ message }) => Number(message * bytes > RENDEZVOUS))],
      ...(direct ? [["hop", topology.linkLatencyPs[0] / 1e6, sum(({ hops }) => hops)]] : []),
      ...(direct && registers(row) ? [["registration", 0, ports * sum(() => 1)]] : []),
      [`wire, ${algorithm}${row.ports > 1 ? ` x ${row.ports}` : ""}`, 1, usPerByte * bytes * sum(({ load }) => load)],
      [
        bytes <= network.cacheBytes ? "sums in cache" : "sums in memory",
        0,
        (bytes / 1e3) * sum(({ summed }) => summed),
      ],
    ]
      .filter(([, , amount]) => amount > 0)
      .map(([name, label, amount]) => [list.of(name, label), amount]);
}

const FAMILIES = { ring: ["Ring"], tree: ["Tree"], nvls: ["NVLS", "NVLSTree"] };

/** Returns the network of ranks, which rows of one machine may differ in. */
export function topologyOf(lib, key, ranks) {
  const { topology, make } = NETWORKS[key];
  if (topology !== undefined) return lib.presetTopology(topology);
  const made = make(ranks);
  return typeof made === "string" ? lib.presetTopology(made) : lib.boxTopology(key, ...made);
}

/** Returns the ways that NCCL may have gone, by its own cost model: its latency, and its bytes by algorithm. */
function ncclWays(lib, key, row, list) {
  const topology = topologyOf(lib, key, row.ranks);
  const family = FAMILIES[row.algorithm];
  return (bytes) =>
    lib
      .ncclEstimates(topology, row.collective, bytes)
      .filter(({ algorithm }) => family === undefined || family.includes(algorithm))
      .map(({ algorithm, us, latencyUs }) => [
        [list.of("call", 0), 1],
        [list.of("latency", 1), latencyUs],
        [list.of(`wire, ${algorithm}`, 1), us - latencyUs],
      ]);
}

/** Returns the one way of rings or trees that RCCL was made to go: latencies of the longest way, bytes over the most loaded link. */
function rcclWays(lib, key, { algorithm, collective, ranks }, list) {
  const topology = topologyOf(lib, key, ranks);
  const classes = lib.linkClasses(topology);
  const request = { algorithm, collective, ranks, hosts: null, source: key };
  const { hops, load } = lib.collectiveCost(topology, classes, request);
  const latencyUs = classes.classes.reduce((sum, { latencyPs }, k) => sum + (hops[k] * latencyPs) / 1e6, 0);
  const usPerByte = Math.max(...classes.classes.map(({ bytesPerSecond }, k) => (load[k] * 1e6) / bytesPerSecond));
  return (bytes) => [
    [
      [list.of("call", 0), 1],
      [list.of("latency", 1), latencyUs],
      [list.of(`wire, ${algorithm}`, 1), bytes * usPerByte],
    ],
  ];
}

/** Returns the ways of a series' calls, by whose library made them. */
function waysOf(lib, network, key, row, list) {
  if (network.kind === "nccl") return ncclWays(lib, key, row, list);
  if (network.kind === "rccl") return rcclWays(lib, key, row, list);
  const costs = mpiCosts(lib, network, row, list);
  return (bytes) => [costs(bytes)];
}

/**
 * Returns the parts of a network's calls and its measured points. Every second size of a series is for the fit, the others are to be
 * judged, and so is a series of one size.
 */
export function casesOf(lib, key, rows) {
  const network = NETWORKS[key];
  const list = partList();
  const sparse = rows
    .filter((row) => row.network === key && row.algorithm !== "fastest")
    .flatMap((row) => {
      const ways = waysOf(lib, network, key, row, list);
      return row.points.map(([bytes, us], i) => ({
        row,
        bytes,
        us,
        judged: i % 2 === 1 || row.points.length === 1,
        sparse: ways(bytes),
      }));
    });
  const points = sparse.map(({ sparse: ways, ...point }) => ({
    ...point,
    ways: ways.map((amounts) => {
      const way = new Float64Array(list.parts.length);
      for (const [part, amount] of amounts) way[part] += amount;
      return way;
    }),
  }));
  return { key, network, parts: list.parts, labels: Float64Array.from(list.parts, ({ label }) => label), points };
}

/** Returns a network's points with both predictions, and the figures that were fitted to the half that is not judged. */
export function predicted(lib, cases) {
  const { figures, told } = fitParts(
    lib,
    cases.points.filter(({ judged }) => !judged),
    cases.labels,
  );
  return {
    ...cases,
    figures,
    told,
    points: cases.points.map((point) => ({
      ...point,
      labelled: partedUs(point, cases.labels),
      fitted: partedUs(point, figures),
    })),
  };
}

export const errorOf = ({ us, fitted }) => fitted / us - 1;
export const labelErrorOf = ({ us, labelled }) => labelled / us - 1;
