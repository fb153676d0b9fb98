/**
 * The broadcast trees of bandwidth-optimal all-gathers on the base graphs of `model/direct/base-graphs.ts`, which no
 * breadth-first broadcast reaches (Zhao 2026, table A.3). They were found with a constraint solver that was given the fewest
 * steps there can be, equal loads of all arcs in every step, and then the fewest messages.
 *
 * A tree is written as two words with a letter for every node, in order of id: from whom it receives, in hexadecimal, and in
 * which comm step, from 1; the root has its own id and 0.
 */
export interface BaseTrees {
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

export const BASE_TREES: readonly BaseTrees[] = [DIAMOND, DBJ_MOD_2_3, DBJ_MOD_3_2, DBJ_MOD_2_4];
