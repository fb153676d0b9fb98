// The report and the pictures of `measured`.
import { errorOf, LARGE, labelErrorOf } from "./measured-cases.mjs";
import { NETWORKS } from "./measured-networks.mjs";
import { figure, groupedBy, median, reportHead, table } from "./support.mjs";

const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : "");
const signed = (share) => `${share < 0 ? "-" : "+"}${Math.abs(100 * share).toFixed(0)} %`;
const middle = (points, of) => (points.length === 0 ? Number.NaN : median(points.map((point) => Math.abs(of(point)))));

export function sizeText(bytes) {
  for (const [unit, of] of [
    ["GiB", 2 ** 30],
    ["MiB", 2 ** 20],
    ["KiB", 2 ** 10],
  ])
    if (bytes >= of) return `${figure(bytes / of, 3)} ${unit}`;
  return `${bytes} B`;
}

/** Returns the errors of judged points, below 16 MiB and from there on. */
export function summaryOf(points) {
  const judged = points.filter((point) => point.judged);
  const small = judged.filter(({ bytes }) => bytes < LARGE);
  const large = judged.filter(({ bytes }) => bytes >= LARGE);
  return {
    points: points.length,
    judged: judged.length,
    small: small.length,
    large: large.length,
    smallLabel: middle(small, labelErrorOf),
    largeLabel: middle(large, labelErrorOf),
    smallFitted: middle(small, errorOf),
    largeFitted: middle(large, errorOf),
  };
}

/** What separates a judged point, as far as the rows of the same run tell. */
function causeOf({ row, bytes, us, fitted }) {
  const machine = row.network.split("-")[0];
  const isLate = fitted > us;
  if (machine === "fugaku" && row.ports === 0)
    return "MPI's ranks in their order on the torus: where they lie and which of several ways Tofu takes is not known, loads are those of one way";
  if (machine === "fugaku" && !isLate && row.algorithm.endsWith("binomial"))
    return "a tree's largest messages through several interfaces at once: what a processor can sum or copy of them is not modelled by port";
  if (machine === "fugaku" && isLate && bytes <= 1024)
    return "a message of a few bytes is not split over the interfaces, as larger ones are: it pays for one";
  if (machine === "fugaku")
    return "memory that uTofu must know of: one figure for each message, where the cost also depends on their number and size";
  if (machine === "leonardo" && row.ranks >= 200)
    return "groups of the dragonfly share their global links with other jobs and each other: the bandwidth of one algorithm differs twofold between 64 MiB and 512 MiB";
  if (machine === "leonardo")
    return "messages of 64 to 512 KiB get less of the network than shorter and longer ones: protocols and rails of UCX are not modelled";
  if (machine === "lumi" && row.ranks === 4)
    return "from 64 to 512 MiB the run's time grows 15-fold: pages of memory that are touched first, or a neighbour on the node; the sums in memory are fitted to it";
  if (machine === "lumi") return "many blocks in one round are as many messages: counted as one";
  if (machine === "mn5" && row.collective === "reduce")
    return "between 1 and 8 MiB the run jumps 12-fold (its library switches): not a sum of parts";
  if (machine === "mn5") return "messages of some KiB: eager, copied twice; one threshold for all algorithms";
  if (machine === "mi350x")
    return "two to four sizes, of other protocols and channels each; RCCL's cost model is not known here";
  if (row.algorithm === "nvls")
    return "NVLS that was forced on two GPUs, which NCCL never chooses: its model is off there";
  return "a protocol that NCCL's model would not choose at this size";
}

/** Returns the median error of H100 rings, by GPUs, beside ASTRA-sim's geometric means (its documentation, HGX-H100). */
export function ringErrors(points) {
  const astra = new Map([
    [2, 0.2063],
    [4, 0.1201],
    [8, 0.0969],
  ]);
  return [...astra].map(([gpus, theirs]) => {
    const own = points.filter(
      ({ row, judged }) =>
        judged &&
        row.network === "h100-box" &&
        row.collective === "allreduce" &&
        row.algorithm === "ring" &&
        row.ranks === gpus,
    );
    const errors = own.map((point) => Math.max(1e-4, Math.abs(errorOf(point))));
    const geometric = Math.exp(errors.reduce((sum, error) => sum + Math.log(error), 0) / errors.length);
    const labelled = own.map((point) => Math.max(1e-4, Math.abs(labelErrorOf(point))));
    const before = Math.exp(labelled.reduce((sum, error) => sum + Math.log(error), 0) / labelled.length);
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    return { gpus, points: own.length, from: own.map(({ bytes }) => bytes), before, geometric, mean, theirs };
  });
}

function networkRows(fits) {
  return fits.map(({ key, parts, figures, points }) => {
    const of = summaryOf(points);
    return [
      key,
      NETWORKS[key].machine,
      of.points,
      parts.filter((_, j) => figures[j] > 0).length,
      percent(of.smallLabel),
      percent(of.smallFitted),
      percent(of.largeLabel),
      percent(of.largeFitted),
    ];
  });
}

const splitRow = ({ name, points }) => {
  const of = summaryOf(points);
  const networks = new Set(points.map(({ row }) => row.network)).size;
  return [
    name,
    networks,
    of.small,
    percent(of.smallLabel),
    percent(of.smallFitted),
    of.large,
    percent(of.largeLabel),
    percent(of.largeFitted),
  ];
};

const paperRow = ({ source, network, collective, bytes, theirs, printed, predicted, over, error }) => {
  const text = (value) => (over === undefined ? `${figure(value)} us` : `${figure(value, 3)} x`);
  const size = bytes >= 1e9 ? `${bytes / 1e9} GB` : `${bytes / 1e3} kB`;
  return [source, network, collective, size, theirs, text(printed), text(predicted), signed(error)];
};

const runName = ({ algorithm, runAs }) => (runAs === "" ? algorithm : runAs);

function worstRows(points) {
  return points
    .filter(({ judged }) => judged)
    .toSorted((a, b) => Math.abs(errorOf(b)) - Math.abs(errorOf(a)))
    .slice(0, 10)
    .map((point) => [
      point.row.network,
      point.row.collective,
      runName(point.row),
      point.row.ranks,
      sizeText(point.bytes),
      figure(point.us),
      figure(point.fitted),
      signed(errorOf(point)),
      causeOf(point),
    ]);
}

/** Why ours gain nothing, or what the gain rests on. */
function gainNote({ key, algorithm, us, fastest, share }) {
  const ratio = fastest.us / us;
  if (NETWORKS[key].kind !== "mpi") {
    const lack = `the library reaches ${percent(share)} of its own simulation, ours are given no more`;
    return ratio > 1.005 ? lack : `no gain: its own algorithm is the fastest known; ${lack}`;
  }
  if (!key.startsWith("fugaku"))
    return ratio >= 1.02
      ? "one switch: chunks overlap; that they are more messages is not charged to the processor"
      : "no gain: through one switch halving, doubling and rings are already as fast as any";
  if (ratio >= 1.02) return "all links of a node at once, sums while other parts are on their way";
  return algorithm === "themis"
    ? "no gain: rings of 32 to 256 nodes in each dimension; shallower trees are not made here for so many"
    : "no gain";
}

function gainRows(found) {
  return found.map((gain) => [
    gain.key,
    gain.collective,
    sizeText(gain.bytes),
    runName(gain.fastest.row),
    figure(gain.fastest.us),
    gain.algorithm,
    figure(gain.us),
    figure(gain.limitUs),
    `${figure(gain.fastest.us / gain.us, 3)} x`,
    gainNote(gain),
  ]);
}

const PHYSICS = [
  ["rings and trees of RCCL as `calibrate` counts them", "latency, wire", "data sheets; too few sizes to tell"],
  ["a call's own cost", "call", "fitted; no page prints it"],
  ["what a message costs its sender, on every interface", "message", "1.5 us (0.5 on Tofu) assumed, fitted"],
  ["agreement on long messages", "rendezvous", "fitted, from 16 KiB"],
  ["memory that a network card must know of", "registration", "fitted, uTofu's algorithms that pass on parts"],
  [
    "links, the most loaded of every round, by algorithm",
    "wire",
    "label: data sheets; fitted: what an algorithm gets of them",
  ],
  ["interfaces of a node (Tofu: six, each as fast as a link)", "wire", "in the loads, not fitted"],
  ["sums by a processor, in its cache and in memory", "sums", "fitted; the caches' sizes from makers' pages"],
  [
    "protocols of NCCL (LL, LL128, Simple), channels, NVLS, latency floors",
    "latency, wire",
    "NCCL's own cost model; three to five figures fitted",
  ],
];
const MISSING = [
  "routes that adapt, and other jobs on shared links (Leonardo's and LUMI's dragonflies)",
  "the axes A, B, C of Tofu's 6D torus behind a torus of two dimensions (32x256 has shorter ways than it shows: shares below 1)",
  "protocols of UCX and libfabric between eager and rendezvous, their rails",
  "pages touched first, NUMA, and how sums share the memory's bandwidth with cards",
  "what a GPU's multiprocessors copy at once where fewer channels run than links could take (in NCCL's speeds of channels only)",
];

/** Returns the Markdown of everything. */
export function measuredReport(where, { fits, rings, gains, targets, swapped, splits, papers }) {
  const points = fits.flatMap((fit) => fit.points);
  const all = summaryOf(points);
  const machines = groupedBy(Object.keys(NETWORKS), (key) => NETWORKS[key].machine).size;
  const figures = fits.reduce((sum, { figures: own }) => sum + own.filter((value) => value > 0).length, 0);
  return [
    ...reportHead(
      "measured",
      "Predictions beside published measurements",
      [
        `${points.length} points of ${fits.length} networks on ${machines} machines (\`bench/measured-rows.csv\`, each series with its address; networks in \`bench/measured-networks.mjs\`).`,
        "Calls are sums of parts: what a call costs, what each message costs, bytes on the most loaded link of each round, bytes summed; of GPUs NCCL's own model. Uncalibrated: figures of data sheets alone. Calibrated: fitted per network to every second size of each series, judged on the others.",
        `${figures} figures are fitted to ${points.length - all.judged} points. Which parts there are was chosen with all points in sight.`,
      ],
      where,
    ),
    "## Errors of the judged half",
    "",
    table(
      ["sizes", "points", "uncalibrated, median", "calibrated, median", "asked", "as asked", "halves exchanged"],
      [
        [
          "below 16 MiB",
          all.small,
          percent(all.smallLabel),
          percent(all.smallFitted),
          percent(targets.small),
          all.smallFitted <= targets.small ? "yes" : "no",
          percent(swapped.smallFitted),
        ],
        [
          "from 16 MiB on",
          all.large,
          percent(all.largeLabel),
          percent(all.largeFitted),
          percent(targets.large),
          all.largeFitted <= targets.large ? "yes" : "no",
          percent(swapped.largeFitted),
        ],
      ],
    ),
    "",
    "## Stricter judgements",
    "",
    "The same parts, fitted to other points: each point is predicted by a fit that has not seen what the row names. The table above asks what a size between measured sizes takes, which is the easiest question; these ask for sizes beyond, for what was never measured, for another network. A figure that no point of a fit tells stays the label's.",
    "",
    table(
      [
        "not seen by the fit",
        "networks",
        "points below",
        "uncalibrated",
        "calibrated",
        "points from 16 MiB",
        "uncalibrated",
        "calibrated",
      ],
      splits.map(splitRow),
    ),
    "",
    "So the figures interpolate; they do not extrapolate. Larger sizes than were measured, or an algorithm that was not, need a log of their own. h100-box without its 4 GPUs is left with sizes from 256 MiB on, which do not tell what a call costs.",
    "",
    "![predicted over measured](measured-scatter.svg)",
    "",
    "![how many points have which error](measured-histogram.svg)",
    "",
    "## By network",
    "",
    table(
      [
        "network",
        "machine",
        "points",
        "figures",
        "below 16 MiB: uncalibrated",
        "calibrated",
        "from 16 MiB: uncalibrated",
        "calibrated",
      ],
      networkRows(fits),
    ),
    "",
    "## H100: all-reduce by a ring",
    "",
    "Errors of the judged half on 2, 4 and 8 GPUs, beside those that ASTRA-sim's documentation prints for its own simulation (geometric means, at sizes that it does not print). Of 8 GPUs one ring was published in numbers, of an H200 at 16 GiB: no point of 8 GPUs is in the fit. On 2 and 4 GPUs rings are named by the machine's log from 256 MiB on; below they are the library's choice.",
    "",
    table(
      [
        "GPUs",
        "points",
        "sizes",
        "uncalibrated, geometric mean",
        "calibrated, geometric mean",
        "calibrated, mean",
        "ASTRA-sim",
        "better",
      ],
      rings.map((one) => [
        one.gpus,
        one.points,
        `${sizeText(Math.min(...one.from))} to ${sizeText(Math.max(...one.from))}`,
        percent(one.before),
        percent(one.geometric),
        percent(one.mean),
        percent(one.theirs),
        Math.max(one.geometric, one.mean) < one.theirs ? "yes" : "no",
      ]),
    ),
    "",
    "## What papers print of runs on machines",
    "",
    "Ratios and lines that stand in the text of papers, beside the simulation of both schedules on the network as data sheets have it; nothing is fitted, for each is one size. What papers *simulate* is no measurement and stands in `papers.md` (TACOS 2023 and 2024), `themis.md` and `training.md`. TACCL's figures, and the curves of the dissertation (3.6, 3.11, 4.10 to 4.12, A.2), are pictures without printed numbers; of TACCL's runs the text has only greatest speed-ups (6.7 x), without the size or the network; Frontera's 29 and 42 % are over a schedule of tori that is not made here.",
    "",
    table(
      ["source", "network", "collective", "size", "what was measured", "printed", "predicted", "error"],
      papers.map(paperRow),
    ),
    "",
    "Simulated schedules charge no launch, protocol or thread block, which both sides of a ratio pay on a machine; the last two rows are a label of 100 Gb/s where the author's cards give 79, and an assumed step of 10 us where they take 13.33 and a call 21.60.",
    "",
    "## The ten worst",
    "",
    table(
      ["network", "collective", "run as", "ranks", "size", "measured, us", "calibrated, us", "error", "cause"],
      worstRows(points),
    ),
    "",
    "## Physics",
    "",
    table(["what", "part", "where its figure comes from"], PHYSICS),
    "",
    "Not modelled, and where errors stay:",
    "",
    ...MISSING.map((text) => `* ${text}`),
    "",
    "## What would we gain there",
    "",
    "The fastest that was measured, of all algorithms of the run, beside the fastest of ours, simulated on the network with its fitted figures (messages as latency, links as what an algorithm got of them), with what a call and the sums cost. Where one switch joins all, and of GPUs (at the largest size), ours are given what the library's best of the simulation needs of it. Limits are of any schedule, with the figures of data sheets, without calls and sums.",
    "",
    table(
      [
        "network",
        "collective",
        "size",
        "fastest measured",
        "us",
        "ours",
        "us",
        "limit on the label, us",
        "gain",
        "why",
      ],
      gainRows(gains),
    ),
    "",
  ].join("\n");
}

const COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f"];
const SVG = (width, height, title, lines) =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...lines,
    "</svg>",
    "",
  ].join("\n");
const at = (value) => value.toFixed(1);
const timeText = (us) => (us >= 1e6 ? `${us / 1e6} s` : us >= 1e3 ? `${us / 1e3} ms` : `${us} us`);

/** Returns judged points, measured us from left to right and predicted from below, both logarithmic. */
export function scatterPicture(points) {
  const judged = points.filter((point) => point.judged);
  const [width, height, left, bottom, top, right] = [760, 580, 70, 52, 20, 180];
  const exponents = judged.flatMap(({ us, fitted }) => [Math.log10(us), Math.log10(Math.max(fitted, 0.1))]);
  const low = Math.floor(exponents.reduce((a, b) => Math.min(a, b)));
  const high = Math.ceil(exponents.reduce((a, b) => Math.max(a, b)));
  const x = (us) => left + ((Math.log10(us) - low) / (high - low)) * (width - left - right);
  const y = (us) => height - bottom - ((Math.log10(us) - low) / (high - low)) * (height - bottom - top);
  const groupOf = ({ row }) => row.network.split("-")[0];
  const groups = [...groupedBy(judged, groupOf)].sort((a, b) => b[1].length - a[1].length).map(([name]) => name);
  const shown = groups.slice(0, COLOURS.length - 1);
  const colour = (name) => COLOURS[shown.includes(name) ? shown.indexOf(name) : COLOURS.length - 1];
  const ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  const [from, to] = [10 ** low, 10 ** high];
  const line = (factor, style) => {
    const [a, b] = factor > 1 ? [from, to / factor] : [from / factor, to];
    return `<line x1="${at(x(a))}" y1="${at(y(a * factor))}" x2="${at(x(b))}" y2="${at(y(b * factor))}" ${style}/>`;
  };
  return SVG(width, height, "Predicted over measured microseconds of the judged half", [
    ...ticks.flatMap((tick) => [
      `<line x1="${at(x(tick))}" y1="${at(y(from))}" x2="${at(x(tick))}" y2="${at(y(to))}" stroke="#dddddd"/>`,
      `<line x1="${at(x(from))}" y1="${at(y(tick))}" x2="${at(x(to))}" y2="${at(y(tick))}" stroke="#dddddd"/>`,
      `<text x="${at(x(tick))}" y="${height - bottom + 18}" text-anchor="middle" fill="#333333">${timeText(tick)}</text>`,
      `<text x="${left - 8}" y="${at(y(tick) + 4)}" text-anchor="end" fill="#333333">${timeText(tick)}</text>`,
    ]),
    line(1, `stroke="#333333"`),
    line(1.3, `stroke="#999999" stroke-dasharray="4 4"`),
    line(1 / 1.3, `stroke="#999999" stroke-dasharray="4 4"`),
    ...judged.map(
      (point) =>
        `<circle cx="${at(x(point.us))}" cy="${at(y(Math.max(point.fitted, 0.1)))}" r="2.8" fill="${colour(groupOf(point))}" fill-opacity="0.6"/>`,
    ),
    ...[...shown, "others"].flatMap((name, i) => [
      `<circle cx="${width - right + 16}" cy="${top + 12 + 20 * i}" r="4" fill="${colour(name)}"/>`,
      `<text x="${width - right + 26}" y="${top + 16 + 20 * i}" fill="#333333">${name}</text>`,
    ]),
    `<text x="${at((left + width - right) / 2)}" y="${height - 12}" text-anchor="middle" fill="#333333">measured (dashed: 30 %)</text>`,
    `<text x="16" y="${at((top + height - bottom) / 2)}" transform="rotate(-90 16 ${at((top + height - bottom) / 2)})" text-anchor="middle" fill="#333333">calibrated</text>`,
  ]);
}

const BINS = Array.from({ length: 20 }, (_, i) => -1 + i * 0.1);

/** Returns how many judged points have which error, below 16 MiB and from there on. */
export function histogramPicture(points) {
  const judged = points.filter((point) => point.judged);
  const [width, height, left, bottom, top] = [760, 360, 60, 52, 20];
  const binOf = (error) => Math.min(BINS.length - 1, Math.max(0, Math.floor((error + 1) / 0.1)));
  const counts = [false, true].map((isLarge) => {
    const own = new Array(BINS.length).fill(0);
    for (const point of judged) if (point.bytes >= LARGE === isLarge) own[binOf(errorOf(point))]++;
    return own;
  });
  const most = BINS.reduce((max, _, i) => Math.max(max, counts[0][i] + counts[1][i]), 0);
  const step = (width - left - 20) / BINS.length;
  const y = (count) => height - bottom - (count / most) * (height - bottom - top);
  const bar = (i, from, to, colour) =>
    `<rect x="${at(left + i * step + 1)}" y="${at(y(to))}" width="${at(step - 2)}" height="${at(y(from) - y(to))}" fill="${colour}"/>`;
  const marks = [0, Math.round(most / 2), most];
  return SVG(width, height, "Errors of the judged half", [
    ...marks.flatMap((mark) => [
      `<line x1="${left}" y1="${at(y(mark))}" x2="${width - 20}" y2="${at(y(mark))}" stroke="#dddddd"/>`,
      `<text x="${left - 8}" y="${at(y(mark) + 4)}" text-anchor="end" fill="#333333">${mark}</text>`,
    ]),
    ...BINS.flatMap((_, i) => [
      bar(i, 0, counts[1][i], COLOURS[0]),
      bar(i, counts[1][i], counts[0][i] + counts[1][i], COLOURS[4]),
    ]),
    ...[-1, -0.5, 0, 0.5, 1].map(
      (error) =>
        `<text x="${at(left + ((error + 1) / 0.1) * step)}" y="${height - bottom + 18}" text-anchor="${error === 1 ? "end" : "middle"}" fill="#333333">${error === 0 ? "0" : signed(error)}${error === 1 ? " and more" : ""}</text>`,
    ),
    `<rect x="${left + 12}" y="${top}" width="12" height="12" fill="${COLOURS[0]}"/><text x="${left + 30}" y="${top + 11}" fill="#333333">from 16 MiB on</text>`,
    `<rect x="${left + 12}" y="${top + 20}" width="12" height="12" fill="${COLOURS[4]}"/><text x="${left + 30}" y="${top + 31}" fill="#333333">below</text>`,
    `<text x="${at((left + width) / 2)}" y="${height - 12}" text-anchor="middle" fill="#333333">calibrated against measured, points of the judged half</text>`,
  ]);
}
