import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";

const here = commandsHere();

describe("a failure in one command", () => {
  it("says was, now, kept and the cut to blame, with collective, size and algorithm of the old file", async () => {
    await here.run("synth mesh:3x3 -c allgather -s 64MiB -a forestcoll -o old.json -q");
    const before = await here.json("simulate old.json");
    const made = await here.json("synth mesh:3x3 --without 0-1 --repair old.json");
    expect(made).toMatchObject({ algorithm: "forestcoll", collective: { kind: "allgather", sizeBytes: 2 ** 26 } });
    const { failure } = made;
    expect(failure.lost).toEqual(["0-1"]);
    expect(failure.was).toMatchObject({ us: before.time.us, limit: before.limit });
    expect(failure.now).toMatchObject({ us: made.time.us, limit: made.limit });
    // one of two links is left to NPU 0: without latency the limit would double
    expect(failure.limitRose).toBeGreaterThan(1.9);
    expect(failure.limitRose).toBeLessThanOrEqual(2);
    expect(failure.blame).toMatch(/^NPU 0 receives .* through 50 GB\/s/);
    const text = await here.run("synth mesh:3x3 --without 0-1 --repair old.json");
    expect(text).toMatch(/failure +without 0-1\n.* was .* now .* change .* kept .* blame +NPU 0 /s);
  });

  it("keeps trees of less than 99 % of the new optimum where it is told to", async () => {
    await here.run("synth dgx-h100:2 -c allgather -a forestcoll --k 1 -o one.json -q");
    const repair = "synth dgx-h100:2 --without 0-rail0 --repair one.json";
    const anew = await here.json(repair);
    expect(anew.notes.join()).toContain("could not be repaired");
    expect(anew.failure.kept).toBeNull();
    expect(anew.notes.join()).toMatch(/only 83.33 % of the new optimum, less than 99 % \(--keep-from 83% keeps them\)/);
    const kept = await here.json(`${repair} --keep-from 83%`);
    expect([kept.failure.kept, kept.verified]).toEqual([{ what: "trees", kept: 14, of: 16 }, true]);
    expect(kept.throughput.ofBound).toBeCloseTo(0.8333, 3);
    expect((await here.json(`${repair} --keep-from 84%`)).failure.kept).toBeNull();
  });

  it("takes the collective and the algorithm from the command line too, and chunks from the old file", async () => {
    await here.run("synth mesh:3x3 -c allgather -s 64MiB -a forestcoll -o told.json -q");
    const alike = "synth mesh:3x3 --without 0-1 --repair told.json";
    const { failure } = await here.json(`${alike} -c allgather -s 64MiB -a forestcoll`);
    expect(failure).toEqual((await here.json(alike)).failure);
    await here.run("synth mesh:3x3 -c allreduce -s 64MiB --chunks 4 -o four.json -q");
    const made = await here.json("synth mesh:3x3 --without 8 --repair four.json");
    expect(made.collective).toMatchObject({ chunksPerNpu: 4 });
    const other = await here.json("synth mesh:3x3 --without 8 --repair four.json --chunks 2");
    expect(other.collective).toMatchObject({ chunksPerNpu: 2 });
  });

  it("takes what a paste of several nodes needs, which is not said of the old file", async () => {
    const paste = `synth ${fileURLToPath(new URL("../../examples/nvidia-smi-h100.txt", import.meta.url))} --gpu h100 --nodes 2 --assume nic=400Gbps`;
    await here.run(`${paste} -c allgather -s 64MiB -a forestcoll -o paste.json -q`);
    const { failure } = await here.json(`${paste} --without gpu9-net --repair paste.json`);
    expect(failure.lost).toEqual(["gpu9-net"]);
    const refused = await here.ends(`${paste} --without mlx5_9 --repair paste.json`);
    expect(refused.err).toContain('--without is "mlx5_9"; a NIC is a link, such as gpu9-net; NPUs of ');
    const preset = await here.ends("synth dgx-h100:2 --without nic5 -c allgather");
    expect(preset.err).toContain("a NIC is a link, such as 5-rail5; ");
  });

  it("counts the transfers of a schedule of steps that the new one has too", async () => {
    await here.run("synth ring:4 -c allgather -s 4KiB -o steps.json -q");
    const { failure } = await here.json("synth ring:4 --repair steps.json");
    expect(failure).toMatchObject({ lost: [], slower: 1, limitRose: 1, kept: { what: "transfers", kept: 12, of: 12 } });
    expect(failure.blame).toMatch(/^none: /);
  });
});

describe("--repair that keeps no tree", () => {
  it("says why, also where reduction and broadcast go side by side", async () => {
    await here.run("synth mesh:3x3 -c allreduce -a forestcoll -s 1MiB -o side.json --quiet");
    const text = await here.run("synth mesh:3x3 --without 0-1 --repair side.json");
    expect(text).toMatch(/note +made from scratch, for the old trees .*: they reduce and broadcast side by side\n/);
    expect(text).toMatch(/kept +no tree: all were made anew, for the reason in the notes\n/);
  });
});

describe("--without-each", () => {
  it("ranks failures by harm: what leaves no way, then what halves an NPU's links, then what does none", async () => {
    const { rows, whole } = await here.json("bound line:4 -c allgather --without-each 3,links");
    expect(
      rows
        .map((row: { without: string }) => row.without)
        .slice(0, 3)
        .sort(),
    ).toEqual(["0-1", "1-2", "2-3"]);
    expect(rows.at(-1)).toMatchObject({ without: "3" });
    expect(rows[0]).toMatchObject({ limit: null, harm: null, because: expect.stringContaining("not connected") });
    expect(whole.limit.us).toBeGreaterThan(0);
    const mesh = await here.json("bound mesh:3x3 -c allgather --without-each links");
    const harms = mesh.rows.map(({ harm }: { harm: number }) => harm);
    // 12 cables; a corner has two, so the loss of any of the 8 at corners doubles what its limit takes
    expect(harms).toHaveLength(12);
    expect(harms.filter((harm: number) => harm > 1.9)).toHaveLength(8);
    expect(harms).toEqual([...harms].sort((a, b) => b - a));
  });

  it("says with bound that schedules can lose more, and with synth where they lose far more", async () => {
    const cut = await here.run("bound dgx-h100:4 -c allreduce --without-each 0-rail0");
    expect(cut).toMatch(/0-rail0 .* \+3\.22 %/);
    expect(cut).toMatch(
      /harm: what every algorithm loses at least.*\n.*`synth` with the same --without-each ranks by that/,
    );
    const ring = await here.run("synth dgx-h100:4 -c allreduce -s 64MiB -a ring --without-each 0-rail0");
    expect(ring).toMatch(/slower by far more than the rise of the limit/);
    expect(ring).not.toMatch(/harm:/);
    const tacos = await here.run("synth ring:4 -c allgather -s 1MiB --without-each 0-1");
    expect(tacos).not.toMatch(/far more/);
  });

  it("makes a schedule for each with synth, and refuses names that nobody has", async () => {
    const { rows, whole, algorithm } = await here.json("synth ring:4 -c allgather -s 1MiB --without-each 0-1,2");
    expect(algorithm).toBe("tacos");
    expect(rows[0]).toMatchObject({ without: "0-1" });
    expect(rows[0].us).toBeGreaterThan(whole.us);
    const { failure } = await here.ends("bound ring:4 -c allgather --without-each 9-10");
    expect(failure).toMatchObject({ code: 2, place: "--without-each" });
  });

  it("proves limits of alike failures once, and to the same", async () => {
    const names = "links,switches,npus";
    for (const topology of ["torus:4x3", "dgx-a100:2", "K(4,4)", "hypercube:3"]) {
      const { rows } = await here.json(`bound ${topology} -c allgather --without-each ${names}`);
      const proved = rows.filter(({ because }: { because: string }) => !because.startsWith("as without"));
      expect(proved.length).toBeLessThan(rows.length / 4);
      for (const { without, limit } of rows.slice(0, 40)) {
        const { rows: alone } = await here.json(`bound ${topology} -c allgather --without-each ${without}`);
        expect([without, limit?.us]).toEqual([without, alone[0].limit?.us]);
      }
    }
  });

  it("looks at what fails together once too, whatever it is called", async () => {
    const { rows } = await here.json("bound dgx-h100:4 -c allreduce --without-each pairs:nics,boxes,0+0-rail0");
    // 32 NICs: two of one box, two of one rail, two of neither; a box, a GPU
    expect(rows).toHaveLength((32 * 31) / 2 + 4 + 1);
    const proved = rows.filter(({ because }: { because: string }) => !because.startsWith("as without"));
    expect(proved).toHaveLength(5);
    const [together, alone] = await Promise.all(
      ["3-rail3+30-rail6", "9-rail1+10-rail2"].map((name) =>
        here.json(`bound dgx-h100:4 -c allreduce --without-each ${name}`),
      ),
    );
    for (const { rows: own } of [together, alone]) {
      const row = rows.find(({ without }: { without: string }) => without === own[0].without);
      expect(row.limit.us).toBe(own[0].limit.us);
    }
    const root = await here.json("bound ring:5 -c broadcast --root 0 --without-each links");
    const apart = root.rows.filter(({ because }: { because: string }) => !because.startsWith("as without"));
    expect([root.rows.length, apart.length]).toEqual([5, 3]);
  });

  it("says of failures that leave nothing that they do, and goes on", async () => {
    const { rows } = await here.json("bound dgx-h100:2 -c allgather --without-each pairs:boxes,boxes");
    expect(rows.map(({ without }: { without: string }) => without)).toEqual(["box0+box1", "box0", "box1"]);
    expect(rows[0]).toMatchObject({ limit: null, because: expect.stringContaining("leaves no NPU") });
  });

  it("takes all failures of a large network where few are unlike, and refuses more than can be told", async () => {
    const { rows } = await here.json("bound dgx-h100:128 -c allgather --without-each links,switches");
    expect(rows).toHaveLength(2048 + 136);
    const proved = rows.filter(({ because }: { because: string }) => !because.startsWith("as without"));
    expect(proved).toHaveLength(4);
    const many = await here.ends("bound dgx-h100:128 -c allgather --without-each pairs:nics");
    expect(many.err).toContain("--without-each is 523776; it must be at most 100000 failures");
    const unlike = await here.ends("bound mesh:9x13 -c allgather --without-each pairs:links");
    expect(unlike.err).toMatch(
      /--without-each is \d+; it must be at most 4096 unlike failures, each a synthesis or a proof/,
    );
  });

  it("makes one schedule for failures that a symmetry takes to each other", async () => {
    const { rows, whole } = await here.json("synth torus:4x3 -c allgather -s 1MiB --without-each links,npus");
    const made = rows.filter(({ because }: { because: string }) => !because.startsWith("as without"));
    // along four or three NPUs, and an NPU
    expect([rows.length, made.length]).toEqual([24 + 12, 3]);
    for (const { without, us, slower, because } of rows) {
      expect([without, slower]).toEqual([without, us / whole.us]);
      const like = /^as without ([^:]+):/.exec(because)?.[1];
      if (like !== undefined) expect(us).toBe(rows.find((row: { without: string }) => row.without === like).us);
    }
  });

  it("takes what fails together as one failure", async () => {
    const { rows } = await here.json("bound mesh:3x3 -c allgather --without-each 0-1,3-4+4-5,0-1+0-3,8-5+4-7+0-3");
    expect(rows.map((row: { without: string }) => row.without)[0]).toBe("0-1+0-3");
    expect(rows[0].because).toContain("not connected");
    const alone = await here.json("bound mesh:3x3 -c allgather --without 8-5,4-7,0-3");
    const together = rows.find((row: { without: string }) => row.without === "8-5+4-7+0-3");
    expect(together.limit.us).toBe(alone.limit.us);
  });
});
