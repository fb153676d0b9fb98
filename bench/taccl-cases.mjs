// TACCL's example profiles and sketches, with the figures of its public code; HiGHS stands behind both.

/** The files of TACCL's repository, where they are there. */
export const FILES = new URL("../../shared/data/taccl/", import.meta.url);

/** Bytes that a chunk of each profile's costs stands for, and how many of its units are a microsecond. */
export const PROFILES = {
  "ndv2-1MB": { bytes: 2 ** 20, unitsPerUs: 1, unit: "us", gpus: 8 },
  "ndv2-32KB": { bytes: 2 ** 15, unitsPerUs: 10, unit: "0.1 us", gpus: 8 },
  "ndv2-1KB": { bytes: 2 ** 10, unitsPerUs: 100, unit: "0.01 us", gpus: 8 },
  "dgx2-1MB": { bytes: 2 ** 20, unitsPerUs: 1, unit: "us", gpus: 16 },
  "dgx2-1KB": { bytes: 2 ** 10, unitsPerUs: 100, unit: "0.01 us", gpus: 16 },
};

/** Seconds that a schedule may take. */
export const MOST_SECONDS = 60;

const row = (profile, boxes, sketch, collective, more = {}) => ({
  profile,
  boxes,
  sketch,
  collective,
  chunks: 1,
  ...more,
});

/**
 * `routing` and `published`: what the public code says of its first stage and of the schedule, in units of the profile; the
 * latter is what we must not exceed. `paper`: how long the paper says that TACCL took to make it (its section on synthesis time). No `sketch`: proposed ones. `mayTakeLonger`: only a schedule is asked for.
 */
export const CASES = [
  row("ndv2-1MB", 1, "sk1-ndv2-n1", "allgather", { routing: 69, published: 92 }),
  row("ndv2-1MB", 1, "sk1-ndv2-n1", "alltoall", { routing: 138, published: 184 }),
  row("ndv2-1MB", 1, "sk1-ndv2-n1", "reducescatter"),
  row("ndv2-1MB", 1, "sk1-ndv2-n1", "allreduce"),
  row("ndv2-1MB", 1, "sk-ndv2-n1-cUp6", "allgather", { chunks: 6 }),
  row("ndv2-32KB", 1, "sk1-ndv2-n1", "allgather"),
  row("ndv2-1KB", 1, "sk1-ndv2-n1", "allgather"),
  row("ndv2-1MB", 2, "sk1-ndv2-n2", "allgather", { routing: 856, published: 942.4 }),
  row("ndv2-1MB", 2, "sk1-ndv2-n2", "alltoall", { paper: "254, of 1800" }),
  row("ndv2-1MB", 2, "sk1-ndv2-n2", "allreduce"),
  row("ndv2-1MB", 2, "sk2-ndv2-n2", "allgather"),
  row("ndv2-1MB", 2, "sk3-ndv2-n2", "allgather"),
  row("ndv2-1MB", 2, null, "allgather"),
  row("ndv2-1MB", 4, "sk1-ndv2-n4", "allgather", { mayTakeLonger: true }),
  row("ndv2-1MB", 4, "sk2-ndv2-n4", "allgather", { mayTakeLonger: true }),
  row("ndv2-1MB", 10, null, "allgather", { paper: "under 480", mayTakeLonger: true }),
  row("dgx2-1KB", 1, "sk1-dgx2-n1", "allgather", { routing: 465, published: 465 }),
  row("dgx2-1KB", 1, "sk-dgx2-n1", "allgather", { chunks: 2 }),
  row("dgx2-1MB", 1, "sk1-dgx2-n1", "allgather"),
  row("dgx2-1KB", 2, "sk2-dgx2-n2", "allgather", { routing: 930, published: 1519 }),
  row("dgx2-1MB", 2, "sk1-dgx2-n2", "allgather", { chunks: 2, routing: 496, published: 566.4 }),
  row("dgx2-1MB", 2, "sk1-dgx2-n2", "allreduce", { chunks: 2 }),
  row("dgx2-1MB", 2, null, "allgather"),
  row("dgx2-1MB", 2, "sk2-dgx2-n2", "alltoall", { mayTakeLonger: true }),
  row("dgx2-1MB", 2, null, "alltoall", { mayTakeLonger: true }),
];

/** Networks of no file of TACCL's, by name, on proposed sketches. */
export const OTHERS = [
  { network: "torus:6x8", collective: "allgather", size: "48MiB" },
  { network: "torus:6x8", collective: "alltoall", size: "48MiB" },
];
