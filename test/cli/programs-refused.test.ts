import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";

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
  "a schedule (Banyan's JSON or .bys) or a program (MSCCL XML, its first element <algo>, or an MSCCL++ plan in JSON)";

beforeAll(async () => {
  here.put("swap.xml", SWAP);
  for (const folder of ["mixed", "empty", "nested/inner"]) mkdirSync(here.at(folder), { recursive: true });
  here.put("mixed/words.txt", "words");
  await here.run("synth ring:3 --collective allgather --size 3MiB -o ring.json");
  await here.run("export ring.json --to mscclpp-json -o plan.json");
});

describe("a file that is no good program", () => {
  const bomb = `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "${"&b;".repeat(100)}">]><algo name="&c;"/>`;
  it.each<readonly [title: string, text: string, sentence: string]>([
    [
      "a bomb of entities",
      bomb,
      `expected ${EITHER} for bad but received "<?xml version=\\"1.0\\"?><!DOCTYPE a [<!ENTI"`,
    ],
    [
      "an entity that nobody declared",
      SWAP.replace("swap", "&lol;"),
      'expected well-formed XML for bad line 1 but received "undefined entity"',
    ],
    [
      "a document type within",
      SWAP.replace("<gpu", "<!DOCTYPE a><gpu"),
      'expected well-formed XML for bad line 2 but received "inappropriately located doctype declaration"',
    ],
    ["nothing", "", `expected ${EITHER} for bad but received nothing`],
    ["a network", "<system version='1'/>", `expected ${EITHER} for bad but received "<system version='1'/>"`],
    ["half a file", SWAP.slice(0, 500), 'expected well-formed XML for bad line 8 but received "unclosed tag: tb"'],
    [
      "a missing attribute",
      SWAP.replace(' ngpus="2"', ""),
      "expected a value for attribute ngpus of <algo> at bad line 1 but received nothing",
    ],
    [
      "a missing attribute of a step",
      SWAP.replace(' cnt="1"', ""),
      "expected a value for attribute cnt of <step> at bad line 4 but received nothing",
    ],
    [
      "a peer that does not exist",
      SWAP.replace('send="1"', 'send="2"'),
      'expected a whole number from -1 to 1 for attribute send of <tb> at bad line 3 but received "2"',
    ],
    [
      "a rank that does not exist",
      SWAP.replace('gpu id="1"', 'gpu id="7"'),
      'expected a whole number from 0 to 1 for attribute id of <gpu> at bad line 10 but received "7"',
    ],
    [
      "a wait for a thread block that does not exist",
      SWAP.replace('depid="-1"', 'depid="5"'),
      "expected -1 or a thread block of this gpu (0 to 1) for attribute depid of <step> at bad line 4 but received 5",
    ],
    [
      "an unknown operation",
      SWAP.replace('type="s"', 'type="send"'),
      'expected one of nop, s, r, rcs, rrs, rrc, rrcs, cpy, re for attribute type of <step> at bad line 4 but received "send"',
    ],
    [
      "a plan of old",
      '{"name": "a", "gpus": [{"id": 0, "inputChunks": 1, "threadblocks": []}]}',
      'expected a plan in the format of MSCCL++ 0.8 and later (compile the algorithm anew with its mscclpp.language of today) for bad: gpus[0] but received "inputChunks, as the format had it until 0.7"',
    ],
  ])("is refused: %s", async (_title, text, sentence) => {
    here.put("bad", text);
    await here.refuses("verify bad", sentence);
    await here.refuses("explain bad", sentence);
  });

  it.each([
    [
      "UTF-16 with its mark",
      Buffer.from(`\ufeff${SWAP}`, "utf16le"),
      'expected a text in UTF-8 (`iconv -f UTF-16 -t UTF-8` makes one) for bad but received "UTF-16"',
    ],
    [
      "UTF-16 without",
      Buffer.from(SWAP, "utf16le"),
      'expected a text in UTF-8 (`iconv -f UTF-16 -t UTF-8` makes one) for bad but received "UTF-16"',
    ],
    [
      "Latin-1",
      Buffer.from(SWAP.replace("<gpu", "<!-- caf\u00e9 --><gpu"), "latin1"),
      'expected a text in UTF-8 for bad line 2 but received "<!-- caf\ufffd, not UTF-8"',
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
  it.each<readonly [line: string, sentence: string]>([
    [
      "verify swap.xml --topology ring:2",
      'expected a schedule, which has a network, in place of swap.xml for --topology but received "ring:2"',
    ],
    [
      "verify swap.xml --gpu a100",
      'expected a schedule, which has a network, in place of swap.xml for --gpu but received "a100"',
    ],
    [
      "verify swap.xml --target nccl",
      'expected one of msccl, azure, rccl, mscclpp (did you mean "rccl"?) for --target but received "nccl"',
    ],
    [
      "verify swap.xml --target mscclpp",
      'expected msccl, azure or rccl for MSCCL XML for --target but received "mscclpp"',
    ],
    ["verify plan.json --target azure", 'expected mscclpp for an MSCCL++ plan for --target but received "azure"'],
    [
      "verify ring.json --target azure",
      'expected a program beside it, not a schedule, for --target but received "ring.json"',
    ],
    [
      "verify ring.json --assume nvlink=1GB/s",
      'expected --topology beside it for --assume but received "nvlink=1GB/s"',
    ],
    ["explain swap.xml --dtype f32", 'expected --size beside it for --dtype but received "f32"'],
    [
      "explain ring.json --size 1MiB",
      'expected a program beside it (MSCCL XML or MSCCL++ JSON) for --size but received "1MiB"',
    ],
    ["run ring.json", /^banyan: expected a program: MSCCL XML .* for ring\.json but received /.source],
    ["run swap.xml --size 10", "expected a multiple of 4 bytes"],
    ["run swap.xml --placement in", 'expected out, which the program is for, for --placement but received "in"'],
    ["run swap.xml --dtype f16", 'expected one of i32, f32 for --dtype but received "f16"'],
    [
      "export swap.xml --to msccl-xml --instances 2 -o x",
      'expected nothing beside swap.xml, which is a program already, for --instances but received "2"',
    ],
    [
      "export swap.xml --to msccl-xml --size 2 -o x",
      'expected a network in place of swap.xml for --size but received "2"',
    ],
    [
      "export swap.xml --to msccl-xml --without 1 -o x",
      'expected a schedule, which has a network, in place of swap.xml for --without but received "1"',
    ],
    ["export swap.xml --to json -o x", 'expected a schedule or a network for --to json but received "a program"'],
    [
      "export plan.json --to msccl-xml -o x",
      'expected a schedule or MSCCL XML for --to msccl-xml but received "an MSCCL++ plan"',
    ],
    [
      "export ring:4 --to json --dialect rccl -o x",
      'expected nothing beside --to json for --dialect but received "rccl"',
    ],
    [
      "export ring.json --to mscclpp-json --dialect rccl -o x",
      'expected nothing beside --to mscclpp-json for --dialect but received "rccl"',
    ],
    [
      "export ring:4 --to msccl-xml -o x",
      'expected --collective beside it, or a file of a schedule, for what is written of schedules for --to but received "msccl-xml"',
    ],
    [
      "export ring.json --to msccl-xml --min-bytes 2MiB --max-bytes 1MiB -o x",
      'expected 2MiB or more, as --min-bytes says, for --max-bytes but received "1MiB"',
    ],
    [
      "export ring.json --to forestcoll-xml -o x",
      'expected trees (--algorithm forestcoll) for --to forestcoll-xml but received "a schedule of transfers"',
    ],
    [
      "export ring:4 --to json -o -",
      'expected a name (/dev/stdout, with --quiet, is standard output) for -o but received "-"',
    ],
    [
      "export ring.json --to chakra -o ring.json",
      'expected a folder, for there are several files, for -o but received "ring.json"',
    ],
    ["export ring.json --to json -o .", 'expected a file, not a folder, for -o but received "."'],
    ["export ring.json --to chakra -o .", 'expected an empty folder, or a new one, for -o but received "."'],
    [
      "export ring.json --to chakra -o no/folder",
      'expected a folder in a folder that exists for -o but received "no/folder"',
    ],
    [
      "export ring:3 --to msccl-xml --sizes 1KiB -o x",
      "expected a collective beside --sizes for --collective but received nothing",
    ],
    [
      "export ring:3 --to msccl-xml --sizes 1KiB --size 1KiB --collective allgather -o x",
      'expected nothing beside --sizes, which says it, for --size but received "1KiB"',
    ],
    ["export ring:3 --to json --sizes 1KiB --collective allgather -o x", "beside it for --sizes but received"],
    [
      "verify mixed",
      'expected a program: MSCCL XML (its first element is <algo>) or an MSCCL++ plan in JSON for mixed/words.txt but received "words"',
    ],
    ["verify empty", 'expected one with programs for the folder but received "empty"'],
    [
      "verify nested",
      'expected nothing but programs, for runtimes read every file in it, for the folder but received "nested/inner"',
    ],
  ])("%s", async (line, sentence) => {
    const exact = sentence.startsWith("expected ") && sentence.includes(" but received ");
    await here.refuses(line, exact ? sentence : new RegExp(sentence));
    expect(readdirSync(here.at(".")).filter((name) => name === "x" || name.startsWith(".x"))).toEqual([]);
  });
});
