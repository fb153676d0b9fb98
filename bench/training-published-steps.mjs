// Steps of the published rows on networks of boxes, with the simulated schedules of libraries as costs. Whoever calls hands the library
// over, so that the bench measures what was built and the tests what the sources say.
import { SYSTEMS } from "./training-published-cases.mjs";

/** What links give of their line rates: calculon's shares for A100 boxes and their cards, with which the efficiencies were fitted. */
export const MEASURED_SHARES = { link: 0.65, card: 0.9 };
export const LINE_RATES = { link: 1, card: 1 };

/** How a step is made and costed unless a case says otherwise. */
export const USUAL = { shares: MEASURED_SHARES, collectives: "library", efficiencies: {}, options: {} };

/** Returns what predicts rows with a library (`lib`: the functions named below) on an engine. Costs are kept between rows. */
export function predictor(lib, engine) {
  const networks = new Map();
  const tables = new Map();

  /** Returns boxes of a system as Banyan's presets have them, rails between them. */
  function network(system, box, boxes, shares) {
    const { link, card } = SYSTEMS[system];
    const name = `${boxes} boxes of ${box} ${system}, ${shares.link} and ${shares.card} of line rates`;
    const known = networks.get(name);
    if (known !== undefined) return known;
    const made = lib.boxTopology(
      name,
      {
        gpus: box,
        latencyUs: 0.5,
        nvswitch: { gbps: (link * shares.link) / 1e9, inNetwork: system.startsWith("A100") === false },
        scaleOut: { wiring: "rails", gbps: (card * shares.card) / 1e9, latencyUs: 2.5 },
        sources: [],
      },
      boxes,
    );
    networks.set(name, made);
    return made;
  }

  function tableOf(topology) {
    const known = tables.get(topology) ?? lib.communicationCosts(engine, topology);
    tables.set(topology, known);
    return known;
  }

  /**
   * Returns costs on a network, made on as few of its boxes as have whole groups of their own where all others do the same: boxes
   * are alike and rails do not block, so a schedule on them is one of all, link by link.
   */
  function costsOn(topology, { system, box }, shares, algorithm) {
    const whole = tableOf(topology).by({ algorithm });
    const made = new Map();
    const links = new Map();
    const nodes = topology.nodeNames;
    for (let link = 0; link < topology.linkSource.length; link++) {
      links.set(`${topology.linkSource[link]} ${topology.linkTarget[link]}`, link);
    }
    const nodeAt = new Map(nodes.map((name, node) => [name, node]));
    const linkImage = (part, link, shift) => {
      const image = (node) => {
        if (node < part.npuCount) return node + shift;
        const hub = /^nvsw(\d+)$/.exec(part.nodeNames[node]);
        return nodeAt.get(hub === null ? part.nodeNames[node] : `nvsw${Number(hub[1]) + shift / box}`);
      };
      return links.get(`${image(part.linkSource[link])} ${image(part.linkTarget[link])}`);
    };
    return async (kind, groups, bytes) => {
      const size = kind === "send" ? null : periodOf(groups, box);
      if (size === null || size === topology.npuCount) return whole(kind, groups, bytes);
      const key = `${kind} ${bytes} ${groups.size} ${groups.members.join(",")}`;
      if (!made.has(key)) {
        const part = network(system, box, size / box, shares);
        const members = groups.members.filter((npu) => npu < size);
        const cost = await tableOf(part).by({ algorithm })(kind, { members, size: groups.size }, bytes);
        const use = new Float64Array(topology.linkSource.length);
        for (let shift = 0; shift < groups.members.length * (size / members.length); shift += size) {
          cost.use.forEach((share, link) => {
            if (share > 0) use[linkImage(part, link, shift)] = share;
          });
        }
        made.set(key, { ...cost, use });
      }
      return made.get(key);
    };
  }

  /** Returns the step of a row, and by what its time is to be multiplied where the batch makes no whole number of micro batches. */
  function stepOf(row, options) {
    const { config } = lib.modelNamed(row.model).sizes;
    const each = row.dp * row.mbs * (row.vp > 1 ? row.pp : 1);
    const count = Math.max(1, Math.round(row.gbs / each));
    const step = lib.transformerStep(config, {
      ...lib.defaultOptions(config),
      parallelism: {
        ...lib.ALONE,
        ...{ tensor: row.tp, pipeline: row.pp, context: row.cp, data: row.dp, expert: row.ep, interleaved: row.vp },
        ...{ sequence: row.isSplit, zero: row.zero },
      },
      ...{ batch: count * each, microBatch: row.mbs, sequence: row.seq, precision: row.precision },
      ...{ recompute: row.recompute, flash: row.isFlash, overlapped: row.isOverlapped, bucketBytes: 500e6 },
      ...(row.group === "Korthikanti" && { gradientBytes: 4 }),
      ...options,
    });
    return { step, scale: row.gbs / (count * each) };
  }

  return {
    stepOf,
    /** Resolves to seconds of a row's step, and where they go. */
    async predict(row, how = {}) {
      const { shares, collectives, efficiencies, options } = { ...USUAL, ...how };
      const { step, scale } = stepOf(row, options);
      const topology = network(row.system, row.box, row.gpus / row.box, shares);
      const accelerator = lib.acceleratorNamed(SYSTEMS[row.system].accelerator);
      const attention = row.attention === undefined ? {} : { attention: lib.ATTENTION_SHARES[row.attention] };
      const clock = { ...lib.DEFAULT_EFFICIENCIES, ...attention, ...efficiencies };
      const trained = await lib.simulateTraining(topology, lib.placedStep(step), {
        costOf: costsOn(topology, row, shares, collectives),
        computationPs: (computation) => lib.computationPs(accelerator, row.precision, computation, clock),
      });
      const share = (of) =>
        trained.actors.reduce((sum, actor) => sum + of(actor), 0) / trained.actors.length / trained.times.ps;
      const exposed = {};
      for (const { exposedPs } of trained.actors) {
        for (const [name, ps] of exposedPs)
          exposed[name] = (exposed[name] ?? 0) + ps / trained.actors.length / trained.times.ps;
      }
      return {
        seconds: (trained.times.ps / 1e12) * scale,
        scale,
        computing: share(({ computePs }) => computePs),
        bubble: share(({ bubblePs }) => bubblePs),
        exposed,
      };
    },
  };
}

/** Returns of how many NPUs, whole boxes, the first are whole groups and all others the same again; null where there is no such part. */
function periodOf({ members, size }, box) {
  const starts = [];
  for (let at = 0; at < members.length; at += size) starts.push(at);
  if (members[0] !== 0) return null;
  const last = members.reduce((most, npu) => Math.max(most, npu), 0);
  for (let period = box; period <= last; period += box) {
    if ((last + 1) % period !== 0) continue;
    const first = starts.filter((at) => members[at] < period);
    const inside = first.every((at) => members.subarray(at, at + size).every((npu) => npu < period));
    const others = starts.every((at) => {
      const like = first[starts.indexOf(at) % first.length];
      const by = members[at] - members[like];
      return by % period === 0 && members.subarray(at, at + size).every((npu, i) => npu - members[like + i] === by);
    });
    if (inside && others) return period;
  }
  return (last + 1) % box === 0 ? last + 1 : null;
}
