import { InputError, inWords } from "../../base/errors.ts";
import { type CommSchedule, commSchedule } from "../../model/comm/schedule.ts";
import { type Construction, constructionText, graphOf, sizeOf } from "../../model/direct/construction.ts";
import { arcCount, type Digraph, transpose } from "../../model/direct/digraph.ts";
import { diamond, modifiedDeBruijn } from "../../model/direct/families/kautz.ts";
import type { Base } from "../../model/direct/predict.ts";
import { lcm } from "../../model/numbers/integers.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import type { Rational } from "../../model/numbers/rational.ts";
import { type IndexColumn, indexColumn } from "../../model/steps/step-schedule.ts";
import { type Balancer, bestParts, bfbLoads, bfbSchedule } from "../bfb/broadcast.ts";

/** Where the schedules come from that expansions start with. */
export interface Bases {
  /** Returns the all-gather that was found by search, of families that BFB does not suit; null: BFB makes it. */
  tabulated(base: Base): CommSchedule | null;
  /** Returns the loads of the BFB schedule, in shards, per step. Asked once per graph. */
  loads(base: Base): Promise<readonly Rational[]>;
  broadcast(base: Base, parts: number): Promise<CommSchedule>;
}

/** Returns the graph of a construction, or (turned) of its transpose: all-gathers there turn into reduce-scatters (corollary 1.2). */
export const graphOfBase = ({ construction, turned }: Base): Digraph =>
  turned ? transpose(graphOf(construction)) : graphOf(construction);

/** Returns bases whose BFB schedules are balanced by the kernel. */
export function basesOf(balance: Balancer): Bases {
  const known = new Map<string, Promise<readonly Rational[]>>();
  return {
    tabulated({ construction, turned }) {
      return construction.kind === "family" ? baseSchedule(construction.family, construction.parameters, turned) : null;
    },
    loads(base) {
      const key = `${base.turned} ${constructionText(base.construction)}`;
      const loads = known.get(key) ?? bfbLoads(graphOfBase(base), balance);
      known.set(key, loads);
      return loads;
    },
    broadcast(base, parts) {
      const graph = graphOfBase(base);
      if (graph.translations === null) refuseRows(graph.nodes * (graph.nodes - 1));
      return bfbSchedule(graph, parts, balance);
    },
  };
}

/**
 * Returns a bandwidth-optimal all-gather in the steps of table A.3 (Zhao 2026) on Diamond or DBJMod(d, n), or on the transpose
 * as `transpose` numbers it; null for other families. T_B = (N - 1) / N. O(N^2 parts).
 */
export function baseSchedule(family: string, parameters: readonly number[], transposed: boolean): CommSchedule | null {
  const base = BASE_TREES.find((trees) => trees.family === family && trees.parameters.join() === parameters.join());
  if (base === undefined) return null;
  const drawn = family === "Diamond" ? diamond() : modifiedDeBruijn(parameters[0], parameters[1]);
  if (drawn === null) return null;
  const graph = transposed ? transpose(drawn) : drawn;
  const { nodes } = graph;
  const { parts } = base;
  const { step, arc } = arrivals(graph, parts, base.turn, transposed ? base.transposed : base.trees);
  const rows = roomFor(nodes * nodes * parts);
  for (let source = 0; source < nodes; source++) {
    for (let node = 0; node < nodes; node++) {
      const first = (source * nodes + node) * parts;
      for (let part = 0; part < parts && source !== node; ) {
        const at = first + part;
        const from = part;
        while (part < parts && step[first + part] === step[at] && arc[first + part] === arc[at]) part++;
        addRow(rows, step[at], source, arc[at], from, part);
      }
    }
  }
  return scheduleOf(graph, parts, rows);
}

/** Returns when and over which arc each part of each shard reaches each node, both [source * N + node][part]. */
function arrivals(
  graph: Digraph,
  parts: number,
  turn: string | null,
  trees: readonly string[],
): { readonly step: Int8Array; readonly arc: Int16Array } {
  const { nodes } = graph;
  const step = new Int8Array(nodes * nodes * parts);
  const arc = new Int16Array(nodes * nodes * parts);
  const image = indicesBelow(nodes);
  for (let part = 0; part < parts; part++) {
    for (let root = 0; root < nodes; root++) {
      const [senders, steps] = trees[turn === null ? part * nodes + root : root].split(" ");
      for (let v = 0; v < nodes; v++) {
        if (v === root) continue;
        const at = (image[root] * nodes + image[v]) * parts + part;
        step[at] = Number(steps[v]) - 1;
        arc[at] = arcBetween(graph, image[nodeAt(senders, v)], image[v]);
      }
    }
    if (turn !== null) for (let v = 0; v < nodes; v++) image[v] = nodeAt(turn, image[v]);
  }
  return { step, arc };
}

const nodeAt = (word: string, i: number): number => Number.parseInt(word[i], 16);

const arcBetween = ({ offset, target }: Digraph, from: number, to: number): number =>
  target.subarray(0, offset[from + 1]).indexOf(to, offset[from]);

/**
 * The broadcast trees of bandwidth-optimal all-gathers on the base graphs of `model/direct/families/kautz.ts`, which no
 * breadth-first broadcast reaches (Zhao 2026, table A.3). They were found with a constraint solver that was given the fewest
 * steps there can be, equal loads of all arcs in every step, and then the fewest messages.
 *
 * A tree is written as two words with a letter for every node, in order of id: from whom it receives, in hexadecimal, and in
 * which comm step, from 1; the root has its own id and 0.
 */
interface BaseTrees {
  readonly family: string;
  readonly parameters: readonly number[];
  /** Equal parts of a shard. */
  readonly parts: number;
  /**
   * An automorphism whose order divides `parts`: image of each node, in hexadecimal. Only the trees of part 0 are listed then;
   * those of part p are their images under its p-th power. Null: all are listed, part by part.
   */
  readonly turn: string | null;
  /** By part, then by root. */
  readonly trees: readonly string[];
  /** The same for the transpose. */
  readonly transposed: readonly string[];
}

const DIAMOND: BaseTrees = {
  family: "Diamond",
  parameters: [],
  parts: 2,
  turn: "23014576",
  trees: [
    "00770144 01331332",
    "31122155 30122132",
    "66222344 33011323",
    "30130354 12302123",
    "36774344 32320311",
    "60772555 23233011",
    "66122165 11233203",
    "30770357 23113230",
  ],
  transposed: [
    "02306602 03213213",
    "11406613 10322313",
    "12257712 21033231",
    "42337713 32102331",
    "42404702 13130322",
    "15357513 31313022",
    "15456662 32231103",
    "45457707 23321130",
  ],
};

const DBJ_MOD_2_3: BaseTrees = {
  family: "DBJMod",
  parameters: [2, 3],
  parts: 2,
  turn: "37605421",
  trees: [
    "00012235 01133243",
    "71112633 40112422",
    "40252275 34021132",
    "74136633 33402311",
    "44114233 11220333",
    "70056575 23313021",
    "44156665 22331104",
    "70056677 12244210",
  ],
  transposed: [
    "03470750 04321241",
    "11461340 10231423",
    "22260740 11042332",
    "13531356 21402134",
    "12464346 32120313",
    "22570556 23133012",
    "13561366 42313201",
    "23571757 33214120",
  ],
};

const DBJ_MOD_3_2: BaseTrees = {
  family: "DBJMod",
  parameters: [3, 2],
  parts: 3,
  turn: "453786120",
  trees: [
    "000510565 011221233",
    "211411522 201211332",
    "282770822 120233211",
    "303330527 121012323",
    "661444465 323101122",
    "300535585 233120121",
    "660474667 112323012",
    "283774477 332112201",
    "681771888 212332110",
  ],
  transposed: [
    "020038086 021123132",
    "110068141 102222131",
    "222263137 110133223",
    "157333137 322011313",
    "140443747 213102312",
    "557455041 113210222",
    "548266686 222311021",
    "557256777 331232101",
    "248058788 231321210",
  ],
};

const DBJ_MOD_2_4: BaseTrees = {
  family: "DBJMod",
  parameters: [2, 4],
  parts: 2,
  turn: null,
  trees: [
    "0011a0bbcc556e7a 0145513355424545",
    "f1112233445566fa 5011224554355554",
    "8821223b4455eefa 4304115525245543",
    "f093a033ccdd66f7 4550451154342243",
    "80994033445d667a 2522033411454455",
    "8899a5bb4455667a 4444202233115435",
    "8899a26b4cdd66fa 5545350543221143",
    "8811a0b7ccddee77 4455555035442211",
    "881120b38455ee77 1122325304545544",
    "88992233c9d566f7 5511432240543354",
    "f899a23344adeefa 5544155542054421",
    "f099a0bbccdbee77 4555551154403322",
    "88192233cc55c677 5233544411550555",
    "f011a0bb44ddedfa 3455345445115032",
    "809922bbccddeee7 3435454422531105",
    "f0112233ccddeeff 1243555555554410",
    "0011a0bb4455667a 0143414455235555",
    "f11122bb445566fa 5011224554335554",
    "882122bb44556e77 4304113325524545",
    "f093a0334cdd66f7 4550451154342243",
    "80994233445d667a 2322033411454455",
    "f819a5bb445566fa 5454202233115454",
    "f899226bccdd66fa 5545550543221154",
    "f811a0b7cc55ee77 2455535035442211",
    "881122338455ee77 1122344304555544",
    "88992233c9dd6677 5511442240443334",
    "f091a03344a5eefa 2354145542054421",
    "f099a0bbccdbee77 4555551144403322",
    "88192233cc55c677 5233544411550555",
    "f011a0bb44ddedfa 3455445555115032",
    "809920bbccddeee7 3434444422531105",
    "f0112033ccddeeff 1244525555554410",
  ],
  transposed: [
    "03578bcf03f78bc0 0554545215234451",
    "11468acf12468ac0 1045254515452544",
    "12279adf02478ad0 2105245441355453",
    "13438bce13469bc0 4140353521442545",
    "52464ade12469ade 5214023452143234",
    "535795df02f78ad0 1514505324343452",
    "53469b6e13469bde 5451340552514245",
    "13578bd712478bc0 3241424035514354",
    "52468ace82468bce 5535142505231445",
    "12479adf19479ace 5325145440351423",
    "52578ade02a79ade 3435514344055125",
    "52569bde024b8bd0 2424412533505145",
    "53569bcf03f6cbce 4553531554520312",
    "13568bde13f78dde 5352541245535014",
    "13479ace13f79aee 5452455153454501",
    "52579adf03f79bdf 4543535154125450",
    "03478bdf03f78ad0 0554454215245341",
    "11468ace12468ac0 1045254415452535",
    "12269acf02469ac0 2105254541453554",
    "13438bcf13f69bc0 3140353521542544",
    "12464ade02479ad0 4214023454155235",
    "525795cf02f78ad0 1514305322343452",
    "13469b6e13469bde 5451450552514245",
    "13578bc712478bc0 4241425035514555",
    "52468ace83468ace 5534142405241335",
    "12469acf19f69ace 4325154440451523",
    "52578ade02a69ade 3435514344055124",
    "52578bdf02fb8bc0 2425412433404153",
    "53569bcf03f6cbce 4553531554520512",
    "53568bde13f68dde 5352541245535014",
    "13479bce13f79bee 5452455153444501",
    "52579adf03f79bdf 4543535154125450",
  ],
};

const DBJ_MOD_4_2: BaseTrees = {
  family: "DBJMod",
  parameters: [4, 2],
  parts: 4,
  turn: "56749ab8defc1230",
  trees: [
    "0000d3706ee2d377 0111332133323223",
    "41f011115646fff7 2033111133223332",
    "e22891d5a222bbbb 3103323321113223",
    "48c353d95eeaf333 3330213322232111",
    "40444dd9ea4ada33 1211033332133223",
    "824855555248bb33 3322101113223333",
    "88f011616666bab9 2233330311112332",
    "ccccd377ae667f77 3322331033231211",
    "880811718248bffb 1121233203313332",
    "40f49959e922f3f9 2322112130333321",
    "48c4dd79aaaadab9 3233233211012133",
    "ccfc5d555aebbbbb 3233323333201111",
    "cccc1310aa22cbbb 1111322333220333",
    "c804ddd56666dd79 2333111222331033",
    "e0409970eeea73e7 1332233211123303",
    "e2f89911e228ffff 3213333322331110",
  ],
  transposed: [
    "05ae04ac048e040e 0333123313231213",
    "111f04861fbc1682 1013232313321322",
    "242d27bfb7df2402 1203133233321221",
    "3793379c34dc3c9c 1330133212331232",
    "141e448e14bd2492 2123013321323123",
    "35a5a5af159f35ad 3131303331233132",
    "76bd0666b59d160c 2132310132322133",
    "77952797078c0c82 1122312021332333",
    "751da88e878e158d 3233211203123213",
    "769e3696399d369d 3312321230133213",
    "24afa4af0faf26ae 2313131333033312",
    "16b528beb5bb14ae 3213221313103323",
    "171fa6bc17dcccac 3232332132210131",
    "26ad26a63fdd3d9d 3321332332112031",
    "24be388eb4be24ee 3321233123213301",
    "35bf079f0f9f050f 2331323131313330",
  ],
};

const BASE_TREES: readonly BaseTrees[] = [DIAMOND, DBJ_MOD_2_3, DBJ_MOD_3_2, DBJ_MOD_2_4, DBJ_MOD_4_2];

/** Pieces in which copies receive each other's shards: the ports of a node of the expanded graph (Zhao 2026, definition 2). */
const piecesOf = (construction: Extract<Construction, { kind: "degree" }>): number =>
  construction.factor === 1 ? 1 : sizeOf(construction).degree;

/** Returns what the parts of a shard must be a multiple of, so that expansions can cut it. O(size of the construction). */
export function granularity(wanted: Base, bases: Bases): number {
  const { construction, turned } = wanted;
  const below = (base: Construction, turn = turned): number => granularity({ construction: base, turned: turn }, bases);
  switch (construction.kind) {
    case "family":
    case "product":
      return bases.tabulated(wanted)?.parts ?? 1;
    case "line":
      return below(construction.base);
    case "transpose":
      return below(construction.base, !turned);
    case "degree":
      return lcm(below(construction.base), piecesOf(construction));
    case "power":
      return construction.exponent * below(construction.base);
    case "bidirectional":
      return 2 * lcm(below(construction.base, false), below(construction.base, true));
  }
}

/**
 * Returns the parts of a shard with which the schedule of the expansions takes least: a multiple of the granularity in which
 * loads of BFB schedules are whole, or nearly so where these would be more than `most`.
 */
export async function ownParts(wanted: Base, bases: Bases, most: number): Promise<number> {
  const { construction, turned } = wanted;
  const below = (base: Construction, share: number, turn = turned): Promise<number> =>
    ownParts({ construction: base, turned: turn }, bases, Math.max(1, Math.floor(most / share)));
  switch (construction.kind) {
    case "family":
    case "product":
      return bases.tabulated(wanted)?.parts ?? bestParts(await bases.loads(wanted), most);
    case "line":
      return below(construction.base, 1);
    case "transpose":
      return below(construction.base, 1, !turned);
    case "degree": {
      const pieces = piecesOf(construction);
      return lcm(await below(construction.base, pieces), pieces);
    }
    case "power":
      return construction.exponent * (await below(construction.base, construction.exponent));
    case "bidirectional":
      return 2 * lcm(await below(construction.base, 2, false), await below(construction.base, 2, true));
  }
}

/** Rows of a schedule while they are made, in any order; room for as many as were asked for. */
export interface Rows {
  length: number;
  readonly step: Int32Array;
  readonly source: Int32Array;
  readonly arc: Int32Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/** Keys `owner * ROW_KEY + row` sort rows of an arc in a step: rows are fewer, and keys exact. */
export const ROW_KEY = 2 ** 26;

/** Rows take 20 bytes each, and twice as much while they are sorted. */
const MOST_ROWS = 1e8;

/** Throws InputError for more rows than a schedule may have. */
export function refuseRows(rows: number): void {
  if (rows <= MOST_ROWS) return;
  const fewer = `a smaller construction: at most ${MOST_ROWS.toExponential()} rows of a schedule`;
  throw new InputError("expand", fewer, inWords(`about ${rows.toExponential(1)}`));
}

/** Returns room for this many rows. Throws as refuseRows. */
export function roomFor(rows: number): Rows {
  refuseRows(rows);
  const column = (): Int32Array => new Int32Array(rows);
  return { length: 0, step: column(), source: column(), arc: column(), from: column(), to: column() };
}

export function addRow(rows: Rows, step: number, source: number, arc: number, from: number, to: number): void {
  const i = rows.length++;
  rows.step[i] = step;
  rows.source[i] = source;
  rows.arc[i] = arc;
  rows.from[i] = from;
  rows.to[i] = to;
}

/** Returns the schedule of the rows, in order; steps in which nothing moves are left out. O(rows + arcs + steps). */
export function scheduleOf(
  graph: Digraph,
  parts: number,
  rows: Rows,
  symmetry: readonly number[] | null = null,
): CommSchedule {
  const used = (column: Int32Array): Int32Array => column.subarray(0, rows.length);
  const step = used(rows.step);
  const steps = closeGaps(step);
  return commSchedule(
    { graph, steps, parts, symmetry },
    { step, source: used(rows.source), arc: used(rows.arc), from: used(rows.from), to: used(rows.to) },
  );
}

/** Returns the schedule of rows that are in order but for gaps between steps. O(rows). */
export function orderedSchedule(graph: Digraph, parts: number, rows: Rows): CommSchedule {
  const narrow = (column: Int32Array, maximum: number): IndexColumn => {
    const values = indexColumn(rows.length, maximum);
    values.set(column.subarray(0, rows.length));
    return values;
  };
  const steps = closeGaps(rows.step.subarray(0, rows.length));
  return {
    graph,
    steps,
    parts,
    step: narrow(rows.step, steps),
    source: narrow(rows.source, graph.nodes),
    arc: narrow(rows.arc, arcCount(graph)),
    from: narrow(rows.from, parts),
    to: narrow(rows.to, parts),
    symmetry: null,
  };
}

/** Numbers what occurs from 0 on, in order, in place; returns how many there are. */
function closeGaps(values: Int32Array): number {
  let most = -1;
  for (let i = 0; i < values.length; i++) if (values[i] > most) most = values[i];
  const number = new Int32Array(most + 1);
  for (let i = 0; i < values.length; i++) number[values[i]] = 1;
  let count = 0;
  for (let value = 0; value <= most; value++) {
    const occurs = number[value];
    number[value] = count;
    count += occurs;
  }
  for (let i = 0; i < values.length; i++) values[i] = number[values[i]];
  return count;
}
