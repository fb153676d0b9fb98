import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";
import { refused, unexpected } from "../support/refusals.ts";

const { put, run, json, refuses } = commandsHere();

/** A ring all-gather of two, in place; `wrong` puts what GPU 1 receives where its own part is. */
const xml = (
  wrong = false,
): string => `<algo name="ring" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="1" outofplace="0" minBytes="0" maxBytes="0">
  <gpu id="0" i_chunks="0" o_chunks="2" s_chunks="0">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="0" o_chunks="2" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="o" srcoff="0" dstbuf="o" dstoff="${wrong ? 1 : 0}" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
`;

describe("banyan run", () => {
  it("says that a program is correct, with what was done", async () => {
    put("ring.xml", xml());
    const out = await run("run ring.xml --size 64KiB --threads 1");
    expect(out).toMatch(/^ring.xml: .*allgather of 2 GPUs, in place.*64 KiB of i32\n/);
    expect(out).toMatch(/\nin place: correct on all 2 GPUs: 4 instructions, 64 KiB between GPUs, /);
  });

  it("shows the first elements that differ", async () => {
    put("wrong.xml", xml(true));
    const out = await run("run wrong.xml --dtype f32 --size 16 --threads 1", 1);
    expect(out).toMatch(/\nin place: wrong: 4 elements differ\n {2}gpu 1, element 0: expected -?\d+, got NaN\n/);
  });

  it("prints one JSON object", async () => {
    put("ring.xml", xml());
    const report = await json("run ring.xml --size 1KiB --seed 7 --threads 1");
    expect(report).toMatchObject({
      schema: "banyan/execution@1",
      dtype: "i32",
      sizeBytes: 1024,
      seed: 7,
      correct: true,
    });
    expect(report.calls).toMatchObject([{ placement: "in", outcome: "correct", instructions: 4, bytes: 1024 }]);
  });

  it("takes about 1 MiB where no size is given", async () => {
    put("ring.xml", xml());
    expect((await json("run ring.xml --threads 1")).sizeBytes).toBe(2 ** 20);
  });

  it("refuses what cannot be run", async () => {
    put("ring.xml", xml());
    await refuses("run ring.xml --size 100 --threads 1", unexpected("the size", 100, 8, 2, 4));
    await refuses("run ring.xml --dtype f64", refused("unknown-name", "dtype", "f64"));
    await refuses("run ring.xml --placement out", unexpected("placement", "out"));
    await refuses("run ring.xml --size 1024TiB", unexpected("the size", "buffers of 2048 TiB"));
    await refuses("run nothing.xml", unexpected("the program", "nothing.xml"));
  });
});
