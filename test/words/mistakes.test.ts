import { expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";

/**
 * Mistakes that people make, with the answers: mistakes.txt beside this file, where the answers are to be read. Spellings that
 * are no mistakes stand at its end, with what they were taken for.
 */

const here = commandsHere();
/** A list of more is for those who ask for it. */
const MOST_NAMES = 14;

const MISTAKES = [
  // commands
  "",
  "snth mesh:3x3",
  "dgx-a100:2",
  "verify",
  "help synthesize",
  "completion csh",
  "list preset",
  "list schedules",
  // networks
  "topology h100:8",
  "topology a100:16",
  "topology dgx_h100:2",
  "topology torsu:4x4",
  "topology mesh:4xx",
  "topology mesh",
  "topology mesh:4x4@400",
  "topology mesh:4x4@50gb/s",
  "topology cluster.jsn",
  "topology 'K(4'",
  "topology mesh:3x3 --without 9",
  "topology mesh:3x3 --without 0-8",
  "topology mesh:3x3 --degrade 0-1=150",
  "topology mesh:3x3 --gpu h100",
  "bound line:3 -c allgather --without 1",
  // what is asked for
  "synth mesh:3x3",
  "synth mesh:3x3 -c",
  "synth mesh:3x3 -c all-gathr",
  "synth mesh:3x3 -c sum",
  "synth mesh:3x3 -c allgather -s 1GX",
  "synth mesh:3x3 -c allgather -s 1Gb",
  "synth mesh:3x3 -c allgather -s 0",
  "synth mesh:3x3 -c allgather --sizes 1MiB",
  "synth mesh:3x3 -c allgather --root 4",
  "synth mesh:3x3 -c broadcast --root 9",
  "synth mesh:3x3 -c allgather --group 0,1,0",
  "synth mesh:3x3 -c allgather --outsiders none",
  "synth mesh:3x3 -c allgather --chunks 0",
  "synth mesh:3x3 -c allgather --chunks four",
  // how it is made
  "synth mesh:3x3 -c allgather -a forest",
  "synth mesh:3x3 -c allgather -a nccl",
  "synth mesh:3x3 -c allgather -a magic",
  "synth ring:6 -c allgather -a rhd",
  "synth mesh:3x3 -c allgather -a forestcoll -k 0",
  "synth mesh:3x3 -c allgather -a forestcoll -k -1",
  "synth mesh:3x3 -c allgather -a ring --trials 3",
  "synth mesh:3x3 -c allgather --seed 1e99",
  "synth mesh:3x3 -c allgather --policy oldes",
  "synth mesh:3x3 -c allgather --time-limit soon",
  "synth mesh:3x3 -c allgather --alogrithm tacos",
  "synth mesh:3x3 -c allgather --repair none.json",
  // files and formats
  "synth mesh:3x3 -c allgather -o no/folder/x.json",
  "synth mesh:3x3 -c allgather -o .",
  "verify plan.jsno",
  "verify empty.json",
  "verify notes.txt",
  "verify plan.json --target nccl",
  "simulate plan.json --topology torus:3x3",
  "export plan.json --to xml -o x.xml",
  "export plan.json --to svg",
  "export mesh:3x3 --to steps -o x.json",
  "compare mesh:3x3 -c allgather",
  "compare mesh:3x3 -c allgather --sizes 1MiB 1GiB",
  "compare mesh:3x3 -c allgather --sizes 1KiB..1GiB",
  "compare mesh:3x3 -c allgather --sizes 1MiB --format xls",
  "bound mesh:3x3 -c allgather --algorithm ring",
  "search --nodes 8",
  "search --nodes 8 --degree 0",
  "serve --port web",
];

/** Spellings that are understood, with what they mean. */
const UNDERSTOOD: readonly (readonly [said: string, meant: string])[] = [
  ["-c all-gather", "-c allgather"],
  ["-c all_gather", "-c allgather"],
  ["-c AllGather", "-c allgather"],
  ["-c ALLGATHER", "-c allgather"],
  ["-c Reduce-Scatter", "-c reducescatter"],
  ["-c allgather -s 1gib", "-c allgather -s 1GiB"],
  ["-c allgather -s 1g", "-c allgather -s 1GiB"],
  ["-c allgather -s 1gb", "-c allgather -s 1GB"],
  ["-c allgather -a ForestColl", "-c allgather -a forestcoll"],
  ["-c allgather -a TACOS_ILP --time-limit 5", "-c allgather -a tacos-ilp --time-limit 5s"],
];
const RATES = ["400Gb/s", "400Gbit/s", "400Gbps", "400gbps", "50GB/s", "50GBps", "50000MB/s"];

it("mistakes that people make get these answers", { timeout: 180_000 }, async () => {
  here.put("empty.json", "");
  here.put("notes.txt", "all is well\n");
  here.put("cluster.json", "{}");
  await here.run("synth mesh:3x3 -c allgather -s 9KiB -o plan.json -q");
  const lines: string[] = [];
  const long: string[] = [];
  for (const line of MISTAKES) {
    const { code, out, failure } = await here.ends(line.replaceAll("'", ""));
    expect([line, code === 2 || code === 3, out]).toEqual([line, true, ""]);
    const message = failure?.message ?? "";
    // one sentence that begins with what is wrong, and never a list that nobody asked for
    expect([line, message]).toEqual([line, expect.not.stringMatching(/^expected|but received|\n/i)]);
    if (message.split(", ").length > MOST_NAMES) long.push(line);
    lines.push(`banyan ${line}`.trim(), `  ${message}`, "");
  }
  expect(MISTAKES.length).toBeGreaterThanOrEqual(50);
  await expect(lines.join("\n")).toMatchFileSnapshot("mistakes.txt");
  expect(long).toEqual([]);
});

it("what is said otherwise is understood", { timeout: 60_000 }, async () => {
  for (const [said, meant] of UNDERSTOOD) {
    const [a, b] = [await here.json(`synth ring:4 ${said}`), await here.json(`synth ring:4 ${meant}`)];
    expect([said, a.collective, a.algorithm, a.time]).toEqual([said, b.collective, b.algorithm, b.time]);
  }
  for (const rate of RATES) {
    const { links } = await here.json(`topology ring:4@${rate}`);
    expect([rate, links[0].bandwidthGBps]).toEqual([rate, 50]);
  }
});
