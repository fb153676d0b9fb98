import { NONE } from "./lists.ts";
import { reserve } from "./pack-columns.ts";
import type { PackLabels } from "./pack-labels.ts";
import type { PackState } from "./pack-state.ts";

/** How many copies of a path the links and cuts allow: the twin of native/kernels/pack_limit.h, function by function. */

/** Counts of entries into cuts, back at zero after each use. */
export class EntryCounts {
  /** [cuts] */
  times: Int32Array = new Int32Array(0);
  /** Those that are entered. */
  cut: Int32Array = new Int32Array(0);
  count = 0;

  fit(cuts: number): void {
    this.times = reserve(this.times, cuts);
    this.cut = reserve(this.cut, cuts);
  }

  enter(at: number): void {
    if (this.times[at]++ === 0) this.cut[this.count++] = at;
  }

  clear(): void {
    for (let i = 0; i < this.count; i++) this.times[this.cut[i]] = 0;
    this.count = 0;
  }
}

export class PathLimit {
  readonly #state: PackState;
  readonly #labels: PackLabels;
  readonly #counts = new EntryCounts();

  constructor(state: PackState, labels: PackLabels) {
    this.#state = state;
    this.#labels = labels;
  }

  /** Makes room for the cuts of the pool. */
  fit(): void {
    this.#counts.fit(this.#state.pool.count);
  }

  /**
   * Returns how many copies of a label's path and one more link (or NONE) fit, at most those of the tree in the making.
   * `y`: the NPU that the path would take into the tree, or NONE when it shall go on. A cut that the path enters d times
   * allows slack / d copies, slack / (d + 1) when the tree has not touched it and will not have then.
   */
  of(label: number, link: number, y: number): number {
    const { parent, link: links } = this.#labels;
    const { pool } = this.#state;
    const counts = this.#counts;
    const most = this.#labels.length[label] + 2;
    let limit = this.#state.copies;
    if (link !== NONE) limit = this.#over(link, most, limit);
    for (let l = label; parent[l] !== NONE; l = parent[l]) limit = this.#over(links[l], most, limit);
    for (let i = 0; i < counts.count; i++) {
      const cut = counts.cut[i];
      const slack = pool.slack[cut];
      const untouched = y !== NONE && pool.untouched[cut] !== 0 && !pool.has(cut, y);
      const need = counts.times[cut] + (untouched ? 1 : 0);
      // A product beyond 2^53 is rounded, and still greater than any slack.
      if (slack < limit * need) limit = Math.floor(slack / need);
    }
    counts.clear();
    return limit;
  }

  /** Counts the cuts that a link enters, but for those with slack for more entries than any path of `most` - 1 links needs. */
  #over(link: number, most: number, limit: number): number {
    const { pool, left, net, copies } = this.#state;
    const { entered, slack } = pool;
    const arc = net.arc[link];
    const begin = pool.begin[arc];
    const end = begin + pool.size[arc];
    for (let i = begin; i < end; i++) if (slack[entered[i]] < copies * most) this.#counts.enter(entered[i]);
    return left[link] < limit ? left[link] : limit;
  }
}
