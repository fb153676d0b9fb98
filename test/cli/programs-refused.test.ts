import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";
import { missing, outOfRange, type Refusal, refused, unexpected } from "../support/refusals.ts";

const here = commandsHere();

const step = (at: string, more = "") => `<step s="0" ${at} cnt="1" depid="-1" deps="-1" hasdep="0"${more}/>`;
const SEND = step('type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0"');
const RECEIVE = step('type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0"');
const pair = (chunks: string, blocks: string) => (id: number) =>
  `<gpu id="${id}" ${chunks}>\n<tb id="0" send="${1 - id}" recv="-1" chan="0">\n${SEND}\n</tb>\n${blocks}</gpu>\n`;
const gpuOf = pair(
  'i_chunks="1" o_chunks="1" s_chunks="0"',
  `<tb id="1" send="-1" recv="PEER" chan="0">\n${RECEIVE}\n</tb>\n`,
);
const HEAD =
  '<algo name="swap" proto="Simple" nchannels="1" nchunksperloop="1" ngpus="2" coll="custom" inplace="0" outofplace="1" minBytes="0" maxBytes="1024">\n';
/** Two GPUs that send their chunk to each other. */
const SWAP = `${HEAD}${gpuOf(0).replace("PEER", "1")}${gpuOf(1).replace("PEER", "0")}</algo>\n`;
const COPY = 'type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0"';
const CYCLE = `${HEAD}<gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
<tb id="0" send="-1" recv="-1" chan="0"><step s="0" ${COPY} cnt="1" depid="1" deps="0" hasdep="1"/></tb>
<tb id="1" send="-1" recv="-1" chan="0"><step s="0" ${COPY.replace('dstoff="0"', 'dstoff="1"')} cnt="1" depid="0" deps="0" hasdep="1"/></tb>
</gpu><gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0"></gpu></algo>`;
const EITHER =
  "a schedule (Banyan's JSON or .bys, or sends as CSV under the header step,src,dst,chunk,op) or a program (MSCCL XML, its first element <algo>, or an MSCCL++ plan in JSON)";

beforeAll(async () => {
  here.put("swap.xml", SWAP);
  for (const folder of ["mixed", "empty", "nested/inner"]) mkdirSync(here.at(folder), { recursive: true });
  here.put("mixed/words.txt", "words");
  await here.run("synth ring:3 --collective allgather --size 3MiB -o ring.json");
  await here.run("export ring.json --to mscclpp-json -o plan.json");
});

describe("a file that is no good program", () => {
  const bomb = `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "${"&b;".repeat(100)}">]><algo name="&c;"/>`;
  it.each<readonly [title: string, text: string, sentence: Refusal]>([
    ["a bomb of entities", bomb, unexpected("bad", '<?xml version="1.0"?><!DOCTYPE a [<!ENTI', EITHER)],
    ["an entity that nobody declared", SWAP.replace("swap", "&lol;"), unexpected("bad line 1", "undefined entity")],
    [
      "a document type within",
      SWAP.replace("<gpu", "<!DOCTYPE a><gpu"),
      unexpected("bad line 2", "inappropriately located doctype declaration"),
    ],
    ["nothing", "", missing("bad", EITHER)],
    ["a network", "<system version='1'/>", unexpected("bad", "a network (NCCL topology)", EITHER)],
    ["half a file", SWAP.slice(0, 500), unexpected("bad line 8", "unclosed tag: tb")],
    ["a missing attribute", SWAP.replace(' ngpus="2"', ""), missing("attribute ngpus of <algo> at bad line 1")],
    ["a missing attribute of a step", SWAP.replace(' cnt="1"', ""), missing("attribute cnt of <step> at bad line 4")],
    [
      "a peer that does not exist",
      SWAP.replace('send="1"', 'send="2"'),
      unexpected("attribute send of <tb> at bad line 3", "2"),
    ],
    [
      "a rank that does not exist",
      SWAP.replace('gpu id="1"', 'gpu id="7"'),
      unexpected("attribute id of <gpu> at bad line 10", "7"),
    ],
    [
      "a wait for a thread block that does not exist",
      SWAP.replace('depid="-1"', 'depid="5"'),
      unexpected("attribute depid of <step> at bad line 4", 5),
    ],
    [
      "an unknown operation",
      SWAP.replace('type="s"', 'type="send"'),
      refused("unknown-name", "attribute type of <step> at bad line 4", "send"),
    ],
    [
      "a plan of old",
      '{"name": "a", "gpus": [{"id": 0, "inputChunks": 1, "threadblocks": []}]}',
      unexpected("bad: gpus[0]", "inputChunks, as the format had it until 0.7"),
    ],
  ])("is refused: %s", async (_title, text, sentence) => {
    here.put("bad", text);
    await here.refuses("verify bad", sentence);
    await here.refuses("explain bad", sentence);
  });

  it.each([
    ["UTF-16 with its mark", Buffer.from(`\ufeff${SWAP}`, "utf16le"), unexpected("bad", "UTF-16")],
    ["UTF-16 without", Buffer.from(SWAP, "utf16le"), unexpected("bad", "UTF-16")],
    [
      "Latin-1",
      Buffer.from(SWAP.replace("<gpu", "<!-- caf\u00e9 --><gpu"), "latin1"),
      unexpected("bad line 2", "<!-- caf�, not UTF-8"),
    ],
  ])("is refused in %s", async (_title, bytes, sentence) => {
    writeFileSync(here.at("bad"), bytes);
    await here.refuses("verify bad", sentence);
    await here.refuses("topology bad", sentence);
  });

  it("is read with a mark of UTF-8, Windows line ends and tabs", async () => {
    here.put("good.xml", `\ufeff${SWAP.replaceAll("\n", "\r\n\t")}`);
    expect(await here.run("verify good.xml")).toMatch(
      /^sound, ends without deadlock or race: 4 instructions in 4 thread blocks make custom of 2 GPUs/,
    );
  });

  it("fails where steps wait in a circle, which is named", async () => {
    here.put("cycle.xml", CYCLE);
    expect(await here.run("verify cycle.xml", 1)).toMatch(
      /^wrong: 1 violation in cycle\.xml\n {2}in a circle, gpu 0, thread block 0, step 0 \(line 3\): cpy waits for gpu 0, thread block 1, step 0 \(line 4\)/,
    );
    expect(await here.run("run cycle.xml --threads 1", 1)).toContain("stuck: 2 instructions wait for ever");
  });

  it("fails with the limit where a runtime cannot run it", async () => {
    expect(await here.run("verify swap.xml --target azure", 1)).toContain("custom");
  });
});

describe("options that do not apply", () => {
  it.each<readonly [line: string, refusal: Refusal | RegExp]>([
    ["verify swap.xml --topology ring:2", refused("not-alone", "topology", "ring:2")],
    ["verify swap.xml --gpu a100", refused("not-alone", "gpu", "a100")],
    ["verify swap.xml --target nccl", refused("unknown-name", "target", "nccl", "rccl")],
    ["verify swap.xml --target mscclpp", unexpected("target", "mscclpp")],
    ["verify plan.json --target azure", unexpected("target", "azure")],
    ["verify ring.json --target azure", refused("not-alone", "target", "ring.json")],
    ["verify ring.json --assume nvlink=1GB/s", refused("not-alone", "assume", "nvlink=1GB/s", "--topology")],
    ["explain swap.xml --dtype f32", refused("not-alone", "dtype", "f32", "--size")],
    ["explain ring.json --size 1MiB", refused("not-alone", "sizeBytes", "1MiB")],
    ["run ring.json", unexpected("ring.json", "a schedule")],
    ["run swap.xml --size 10", unexpected("the size", 10, 4)],
    ["run swap.xml --placement in", unexpected("placement", "in")],
    ["run swap.xml --dtype f16", refused("unknown-name", "dtype", "f16")],
    ["export swap.xml --to msccl-xml --instances 2 -o x", refused("not-together", "instances", "2")],
    ["export swap.xml --to msccl-xml --size 2 -o x", refused("not-alone", "sizeBytes", "2")],
    ["export swap.xml --to msccl-xml --without 1 -o x", refused("not-alone", "without", "1")],
    ["export swap.xml --to json -o x", unexpected("--to json", "a program")],
    ["export plan.json --to msccl-xml -o x", unexpected("--to msccl-xml", "an MSCCL++ plan")],
    ["export ring:4 --to json --dialect rccl -o x", refused("not-together", "dialect", "rccl", "--to")],
    ["export ring.json --to mscclpp-json --dialect rccl -o x", refused("not-together", "dialect", "rccl", "--to")],
    ["export ring:4 --to msccl-xml -o x", refused("not-alone", "to", "msccl-xml", "--collective")],
    [
      "export ring.json --to msccl-xml --min-bytes 2MiB --max-bytes 1MiB -o x",
      outOfRange("maxBytes", "1MiB", "--min-bytes"),
    ],
    [
      "export ring.json --to forestcoll-xml -o x",
      unexpected("--to forestcoll-xml", "a schedule of transfers", "--algorithm"),
    ],
    ["export ring:4 --to json -o - --json", unexpected("output", "-", "--json")],
    ["export ring:4 --to astra-network -o x.svg", unexpected("output", "x.svg", ".yml")],
    ["export ring.json --to chakra -o ring.json", unexpected("output", "ring.json")],
    ["export ring.json --to json -o .", unexpected("output", ".")],
    ["export ring.json --to chakra -o .", unexpected("output", ".")],
    ["export ring.json --to chakra -o no/folder", unexpected("output", "no/folder")],
    ["export ring:3 --to msccl-xml --sizes 1KiB -o x", missing("collective", "--sizes")],
    [
      "export ring:3 --to msccl-xml --sizes 1KiB --size 1KiB --collective allgather -o x",
      refused("not-together", "sizeBytes", "1KiB", "--sizes"),
    ],
    [
      "export ring:3 --to json --sizes 1KiB --collective allgather -o x",
      refused("not-alone", "sizesBytes", "1KiB", "--to"),
    ],
    ["verify mixed", unexpected("mixed/words.txt", "words")],
    ["verify empty", unexpected("the folder", "empty")],
    ["verify nested", unexpected("the folder", "nested/inner")],
  ])("%s", async (line, refusal) => {
    await here.refuses(line, refusal);
    expect(readdirSync(here.at(".")).filter((name) => name === "x" || name.startsWith(".x"))).toEqual([]);
  });
});
