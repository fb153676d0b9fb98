import { InputError } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";

/** What is known of the pairs of NPUs of a network, host by host. */
export interface PairProfile {
  readonly name: string;
  /** [NPUs] */
  readonly hosts: readonly string[];
  /** [NPUs x NPUs] seconds of a message of no bytes. */
  readonly latencyS: ArrayLike<number>;
  /** [NPUs x NPUs] bytes per second of one flow alone; NaN where it is not known. */
  readonly bytesPerSecond: ArrayLike<number>;
  /** Returns whether a pair is joined with no other NPU between. */
  readonly isJoined: (source: number, target: number) => boolean;
}

/** TACCL's costs are in us, its betas those of 1 MB, which is 2^20 bytes to it. */
const MEGABYTE = 2 ** 20;

const middle = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] as number;
const rounded = (us: number): number => Number(us.toPrecision(6));

/**
 * Returns the text of a TACCL topology profile: alpha, and `links` and `betas` as [destination][source], of a node; alpha and beta
 * between nodes. A node is a host where hosts have two NPUs or more, all as many, one after the other; else the whole network is one.
 * Of several nodes each figure is the middle one. Throws InputError where no pair of a node is joined.
 */
export function tacclProfile({ name, hosts, latencyS, bytesPerSecond, isJoined }: PairProfile): string {
  const n = hosts.length;
  const size = new Set(hosts).size > 1 ? n / new Set(hosts).size : n;
  const isByHost =
    size >= 2 && Number.isInteger(size) && hosts.every((host, npu) => host === hosts[npu - (npu % size)]);
  const gpus = isByHost ? size : n;
  const nodes = n / gpus;
  const alphaOf = (p: number): number => (latencyS[p] as number) * 1e6;
  const betaOf = (p: number): number => (MEGABYTE / (bytesPerSecond[p] as number)) * 1e6;
  const isKnown = (source: number, target: number): boolean =>
    source !== target && isJoined(source, target) && (bytesPerSecond[source * n + target] as number) > 0;
  const links: number[][] = [];
  const betas: number[][] = [];
  const alphas: number[] = [];
  for (let to = 0; to < gpus; to++) {
    const row = Array.from({ length: gpus }, (_, from) => {
      const own = Array.from({ length: nodes }, (_, node) => [node * gpus + from, node * gpus + to] as const)
        .filter(([source, target]) => isKnown(source, target))
        .map(([source, target]) => source * n + target);
      alphas.push(...own.map(alphaOf));
      return own.length === 0 ? 0 : rounded(middle(own.map(betaOf)));
    });
    betas.push(row);
    links.push(row.map((beta) => (beta > 0 ? 1 : 0)));
  }
  if (alphas.length === 0) throw new InputError(`a TACCL profile of ${name}`, "NPUs of a node that are joined", "none");
  const between: number[] = [];
  for (let p = 0; p < n * n; p++) {
    const [source, target] = [Math.floor(p / n), p % n];
    if (Math.floor(source / gpus) !== Math.floor(target / gpus) && isKnown(source, target)) between.push(p);
  }
  const remote =
    between.length === 0
      ? {}
      : {
          remote_alpha: rounded(middle(between.map(alphaOf))),
          remote_beta: rounded(middle(between.map(betaOf))),
          remote_invbw: rounded(middle(between.map((p) => alphaOf(p) + betaOf(p)))),
        };
  const alpha = rounded(middle(alphas));
  const invbws = betas.map((row) => row.map((beta) => (beta > 0 ? rounded(beta + alpha) : 0)));
  return `${jsonText({ name: `${name}-1MB`, gpus_per_node: gpus, alpha, links, betas, invbws, ...remote })}\n`;
}
