// Files of collectives, sketches, schedules, programs and measurements that ask for more than they hold.
const json = JSON.stringify;
const times = (count, of) => Array.from({ length: count }, (_, i) => of(i));
const NINES = "9".repeat(190);

const custom = (chunks, rest = {}) =>
  json({ format: "banyan-collective", version: 1, chunkBytes: 1024, chunks, ...rest });
const all = times(9, (i) => i);
const collectives = {
  "60,000 chunks, one to one": () => custom(times(60_000, (i) => ({ pre: [i % 9], post: [(i + 1) % 9] }))),
  "60,000 chunks, one to all": () => custom(times(60_000, () => ({ pre: [0], post: all }))),
  "60,000 chunks, all to one": () =>
    custom(
      times(60_000, (i) => ({ pre: all, post: [i % 9] })),
      { reduces: true },
    ),
  "60,000 chunks, all to all": () =>
    custom(
      times(60_000, () => ({ pre: all, post: all })),
      { reduces: true },
    ),
  "60,000 chunks where they are": () => custom(times(60_000, () => ({ pre: [0], post: [0] }))),
  "300,000 chunks": () => custom(times(300_000, (i) => ({ pre: [i % 9], post: [(i + 4) % 9] }))),
  "2 million chunks": () => custom(times(2e6, (i) => ({ pre: [i % 9], post: [(i + 4) % 9] }))),
  "a chunk of 190 digits": () => custom([{ pre: [0], post: [1] }]).replace("1024", NINES),
  "a chunk of 190 digits as text": () => custom([{ pre: [0], post: [1] }]).replace("1024", `"${NINES}"`),
  "a chunk that is a fraction of 10,000 digits": () =>
    custom([{ pre: [0], post: [1] }]).replace("1024", `"${"9".repeat(10_000)}/${"7".repeat(9_999)}"`),
  "a chunk that is a fraction of a million digits": () =>
    custom([{ pre: [0], post: [1] }]).replace("1024", `"${"9".repeat(1e6)}/${"7".repeat(1e6)}"`),
  "a list of a million NPUs": () => custom([{ pre: times(1e6, () => 0), post: [1] }]),
  "all-to-all-v of little and much": () =>
    times(9, (i) => times(9, (j) => (i === j ? 0 : i === 0 ? 2 ** 40 : 1)).join(" ")).join("\n"),
  "all-to-all-v of primes": () => times(9, (i) => times(9, (j) => 1e9 + 7 * i * j + i).join(" ")).join("\n"),
  "all-to-all-v of 50,000 chunks": () =>
    times(9, (i) => times(9, (j) => (i === j ? 0 : i === 0 && j === 1 ? 49_000 : 1)).join(" ")).join("\n"),
  "all-to-all-v of 10 MB in a line": () => "1 ".repeat(5e6),
  "all-to-all-v of 190 digits": () => `${NINES} 1\n`,
};

const entries = {
  "50,000 all-gathers": () => json(times(50_000, () => ({ kind: "allgather", size: "1MiB" }))),
  "50,000 all-gathers of all sizes": () => json(times(50_000, (i) => ({ kind: "allgather", size: 1024 * (i + 1) }))),
  "2,000 broadcasts": () => json(times(2000, (i) => ({ kind: "broadcast", size: "1MiB", root: i % 9 }))),
  "2,000 broadcasts of all sizes": () =>
    json(times(2000, (i) => ({ kind: "broadcast", size: 1024 * (i + 1), root: i % 9 }))),
  "50,000 broadcasts": () => json(times(50_000, (i) => ({ kind: "broadcast", size: "1MiB", root: i % 9 }))),
  "50,000 of groups of one": () => json(times(50_000, (i) => ({ kind: "allgather", group: `${i % 9}` }))),
  "50,000 pairs": () => json(times(50_000, (i) => ({ kind: "allreduce", group: [i % 9, (i + 1) % 9] }))),
  "500,000 entries": () => json(times(500_000, () => ({ kind: "allgather" }))),
  "an entry of 1e9 chunks": () => json([{ kind: "allgather", chunks: 1e9 }, { kind: "broadcast" }]),
  "100 entries of 100,000 chunks": () => json(times(100, () => ({ kind: "allgather", chunks: 100_000 }))),
  "a group of a million NPUs": () => json([{ kind: "allgather", group: times(1e6, () => 0) }]),
  "a group of 1 MB of text": () => json([{ kind: "allgather", group: "0,".repeat(5e5) }]),
  "a root of 190 digits": () => `[{"kind":"broadcast","root":${NINES}}]`,
  "2,000 tables of chunks": () =>
    json(
      times(2000, () => ({
        format: "banyan-collective",
        version: 1,
        chunkBytes: 1024,
        chunks: times(30, (i) => ({ pre: [i % 9], post: [(i + 1) % 9] })),
      })),
    ),
};

const sketch =
  (hyper, rest = {}) =>
  () =>
    `{"nnodes":2,"intranode_sketch":{"strategy":"switch","switches":[[0,1,2,3]],"switch_hyperedge_strategy":["uc-min"]},"internode_sketch":{"strategy":"relay","internode_conn":{"1":[0],"3":[2]}},"symmetry_offsets":${json(rest.offsets ?? [[4, 8]])},"hyperparameters":${hyper}${rest.more ?? ""}}`;
const sketches = {
  "chunks of 1e9": sketch('{"input_chunkup":1000000000,"input_size":"1M"}'),
  "chunks of 190 digits": sketch(`{"input_chunkup":${NINES},"input_size":"1M"}`),
  "chunks of 100,000": sketch('{"input_chunkup":100000,"input_size":"1M"}'),
  "a size of 190 digits": sketch(`{"input_chunkup":1,"input_size":"${NINES}M"}`),
  "100,000 symmetries": sketch('{"input_chunkup":1,"input_size":"1M"}', { offsets: times(100_000, () => [4, 8]) }),
  "symmetries of 1e9": sketch('{"input_chunkup":1,"input_size":"1M"}', {
    offsets: [
      [1e9, 1e9],
      [1, 1e9],
    ],
  }),
  "symmetries of 1": sketch('{"input_chunkup":1,"input_size":"1M"}', { offsets: [[1, 1]] }),
  "nodes of 1e9": () => sketch('{"input_chunkup":1,"input_size":"1M"}')().replace('"nnodes":2', '"nnodes":1000000000'),
  "nodes of 190 digits": () =>
    sketch('{"input_chunkup":1,"input_size":"1M"}')().replace('"nnodes":2', `"nnodes":${NINES}`),
  "a switch of 100,000": () =>
    sketch('{"input_chunkup":1,"input_size":"1M"}')().replace("[[0,1,2,3]]", json([times(100_000, (i) => i)])),
  "100,000 switches": () =>
    sketch('{"input_chunkup":1,"input_size":"1M"}')().replace("[[0,1,2,3]]", json(times(100_000, () => [0, 1, 2, 3]))),
  "a comment of 20 MB": () => `/*${"* ".repeat(1e7)}`,
  "20 MB of comments": () => "// a\n".repeat(4e6),
};

/** A good file, changed: [the command, the file, its text anew]. */
const changed = {
  "schedule: chunks of 1e15": [
    "verify",
    "s.json",
    (t) => t.replace(/"chunksPerNpu": \d+/, '"chunksPerNpu": 1000000000000000'),
  ],
  "schedule: a share of a million digits": [
    "verify",
    "s.json",
    (t) => t.replace('"share": "1"', `"share": "${"9".repeat(1e6)}/${"9".repeat(1e6)}"`),
  ],
  "schedule: 190 digits of a time": ["verify", "s.json", (t) => t.replace(/"endPs": \[\d+/, `"endPs": [${NINES}`)],
  "schedule: a size of 190 digits": ["verify", "s.json", (t) => t.replace(/"sizeBytes": \d+/, `"sizeBytes": ${NINES}`)],
  "schedule: groups of a million": [
    "verify",
    "s.json",
    (t) => t.replace(/"groups": \[\[.*?\]\]/, `"groups": ${json(times(1e6, () => [0]))}`),
  ],
  "schedule: a tiny time": ["verify", "s.json", (t) => t.replace(/"endPs": \[\d+/, '"endPs": [5e-324')],
  "trees: copies of 1e15": ["verify", "f.json", (t) => t.replace(/"copies":\d+/g, '"copies":1000000000000000')],
  "trees: simulated, copies of 1e15": [
    "simulate",
    "f.json",
    (t) => t.replace(/"copies":\d+/g, '"copies":1000000000000000'),
  ],
  "trees: chunks of 1e15": [
    "verify",
    "f.json",
    (t) =>
      t
        .replace(/"count": \d+/, '"count": 1000000000000000')
        .replace(/"chunksPerNpu": \d+/, '"chunksPerNpu": 1000000000000000'),
  ],
  "trees: chunks of 7e8": [
    "simulate",
    "f.json",
    (t) =>
      t
        .replace('"count": 3', '"count": 2100000000')
        .replace('"chunksPerNpu": 1', '"chunksPerNpu": 700000000')
        .replace("1073741824/3", "1073741824/2100000000"),
  ],
  "trees: chunks of 7e8, to steps": [
    "export --to steps -o x.json",
    "f.json",
    (t) =>
      t
        .replace('"count": 3', '"count": 2100000000')
        .replace('"chunksPerNpu": 1', '"chunksPerNpu": 700000000')
        .replace("1073741824/3", "1073741824/2100000000"),
  ],
  "trees: symmetry of 1e9": ["verify", "f.json", (t) => t.replace('"sizes": [3]', '"sizes": [1000000000]')],
  "trees: 10,000 generators": [
    "verify",
    "f.json",
    (t) =>
      t
        .replace('"sizes": [3]', `"sizes": ${json(times(10_000, () => 2))}`)
        .replace(/"steps": \[[\s\S]*?\]\s*\]/, `"steps": ${json(times(10_000, () => [0, 1, 2]))}`),
  ],
  "trees: a rate of a million digits": [
    "verify",
    "f.json",
    (t) => t.replace('"copyBytesPerSecond": "50000000000"', `"copyBytesPerSecond": "${"9".repeat(1e6)}/7"`),
  ],
  "trees: k of 190 digits": ["verify", "f.json", (t) => t.replace('"k": 1', `"k": ${NINES}`)],
  "trees: a million trees": [
    "verify",
    "f.json",
    (t) => t.replace(/"trees": \[\s*(\{.*\})\s*\]/, (_, one) => `"trees": [${times(300_000, () => one).join()}]`),
  ],
  "phases: chunks of 1e15": [
    "verify",
    "ph.json",
    (t) => t.replace(/"chunksPerNpu": \d+/, '"chunksPerNpu": 1000000000000000'),
  ],
  "phases: simulated, chunks of 1e9": [
    "simulate",
    "ph.json",
    (t) =>
      t
        .replace(/"chunksPerNpu": \d+/, '"chunksPerNpu": 1000000000')
        .replace(/"count": 32768/, '"count": 4096000000000'),
  ],
  "phases: a dimension of 1e9": ["verify", "ph.json", (t) => t.replace(/"size": ?\d+/, '"size": 1000000000')],
  "program: 1e9 chunks": [
    "verify",
    "s.xml",
    (t) =>
      t
        .replace('nchunksperloop="3"', 'nchunksperloop="1000000000"')
        .replaceAll('o_chunks="3"', 'o_chunks="1000000000"'),
  ],
  "program: 2e9 scratch": ["verify", "s.xml", (t) => t.replaceAll('s_chunks="0"', 's_chunks="2000000000"')],
  "program: 1e9 GPUs": ["verify", "s.xml", (t) => t.replace('ngpus="3"', 'ngpus="1000000000"')],
  "program: a count of 1e9": ["verify", "s.xml", (t) => t.replaceAll('cnt="1"', 'cnt="1000000000"')],
  "program: a count of 190 digits": ["verify", "s.xml", (t) => t.replaceAll('cnt="1"', `cnt="${NINES}"`)],
  "program: 1e9 channels": ["verify", "s.xml", (t) => t.replace('nchannels="1"', 'nchannels="1000000000"')],
  "program: run, 1e8 chunks": [
    "run",
    "s.xml",
    (t) =>
      t
        .replace('nchunksperloop="3"', 'nchunksperloop="300000000"')
        .replaceAll('o_chunks="3"', 'o_chunks="300000000"')
        .replaceAll('i_chunks="1"', 'i_chunks="100000000"'),
  ],
  "program: simulated, 1e8 chunks": [
    "simulate --topology ring:3",
    "s.xml",
    (t) =>
      t
        .replace('nchunksperloop="3"', 'nchunksperloop="300000000"')
        .replaceAll('o_chunks="3"', 'o_chunks="300000000"')
        .replaceAll('i_chunks="1"', 'i_chunks="100000000"'),
  ],
  "program: explained, a count of 1e9": ["explain", "s.xml", (t) => t.replaceAll('cnt="1"', 'cnt="1000000000"')],
  "program: 200,000 steps": [
    "verify",
    "s.xml",
    (t) =>
      t.replace(/<step s="0" type="cpy"[^>]*>/, (step) =>
        times(200_000, (i) => step.replace('s="0"', `s="${i}"`)).join(""),
      ),
  ],
  "plan: 1e9 chunks": ["verify", "p.json", (t) => t.replaceAll('"output_chunks": 24', '"output_chunks": 1000000000')],
  "plan: 2e9 of scratch": [
    "verify",
    "p.json",
    (t) => t.replaceAll('"scratch_chunks": 0', '"scratch_chunks": 2000000000'),
  ],
  "plan: a size of 1e9": ["verify", "p.json", (t) => t.replaceAll('"size":1', '"size":1000000000')],
  "plan: a size of 190 digits": ["verify", "p.json", (t) => t.replaceAll('"size":1', `"size":${NINES}`)],
  "plan: 200,000 operations": [
    "verify",
    "p.json",
    (t) => t.replace('{"name":"nop"}', times(200_000, () => '{"name":"nop"}').join()),
  ],
  "plan: 100,000 channels in an operation": [
    "verify",
    "p.json",
    (t) => t.replaceAll('"channel_ids":[0,1]', `"channel_ids":${json(times(100_000, (i) => i % 2))}`),
  ],
  "plan: a pipeline of 1e9 rounds": [
    "verify",
    "p.json",
    (t) =>
      t.replace(
        '{"name":"nop"}',
        '{"name":"pipeline","iter_context":{"unit_size":1,"num_chunks":1000000000},"ops":[{"name":"nop"}]}',
      ),
  ],
  "plan: a pipeline of units of a byte": [
    "simulate --topology ring:3",
    "p.json",
    (t) =>
      t.replace(
        '{"name":"nop"}',
        '{"name":"pipeline","iter_context":{"unit_size":1,"num_chunks":1},"ops":[{"name":"nop"}]}',
      ),
  ],
  "plan: shared by 1e9 blocks": [
    "verify",
    "p.json",
    (t) => t.replace('{"name":"put"', '{"name":"put","tbg_info":{"tb_id":0,"tbg_size":1000000000}'),
  ],
  ".bys: a header of 4 GB": [
    "verify",
    "s.bys",
    (b) => Buffer.concat([b.subarray(0, 12), Buffer.from([255, 255, 255, 255]), b.subarray(16)]),
  ],
  ".bys: rows of 2^40": [
    "verify",
    "s.bys",
    (b) => bysHeader(b, (t) => t.replace(/"count": ?\d+/, `"count":${2 ** 40}`)),
  ],
  ".bys: 190 digits of rows": [
    "verify",
    "s.bys",
    (b) => bysHeader(b, (t) => t.replace(/"count": ?\d+/, `"count":${NINES}`)),
  ],
  ".bys: rows of 2^40 in the block": [
    "verify",
    "s.bys",
    (b) => bysHeader(b, (t) => t.replace(/"count": ?\d+/, `"count":${2 ** 40}`), true),
  ],
  ".bys: cut short": ["verify", "s.bys", (b) => b.subarray(0, 21)],
};

const crcTable = times(
  256,
  (n) => times(8, (i) => i).reduce((c) => (c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1), n) >>> 0,
);
const crc32 = (bytes) =>
  (bytes.reduce((c, byte) => crcTable[(c ^ byte) & 255] ^ (c >>> 8), 0xffffffff) ^ 0xffffffff) >>> 0;

/** Returns a .bys file whose header is another text, with its checksum; with `frames` also that of its first frame, of 2^32 - 1 rows. */
function bysHeader(bytes, change, frames = false) {
  const length = bytes.readUInt32LE(12);
  let text = change(
    bytes
      .subarray(20, 20 + length)
      .toString()
      .trimEnd(),
  );
  while ((20 + Buffer.byteLength(text)) % 8 !== 0) text += " ";
  const header = Buffer.from(text);
  const start = Buffer.from(bytes.subarray(0, 20));
  start.writeUInt32LE(header.length, 12);
  start.writeUInt32LE(crc32(Buffer.concat([start.subarray(0, 16), header])), 16);
  const rest = Buffer.from(bytes.subarray(20 + length));
  if (frames) {
    rest.writeUInt32LE(0xffffffff, 16);
    rest.writeUInt32LE(crc32(rest.subarray(0, 28)), 28);
  }
  return Buffer.concat([start, header, rest]);
}

const measured = (rows) =>
  `# nThread 1 nGpus 4 minBytes 8\n#       size         count      type   redop    root     time   algbw   busbw #wrong\n${rows}`;
const logs = {
  "a size of 190 digits": () => measured(`${NINES} 256 float sum -1 10.0 1.0 1.0 0\n`),
  "a million rows": () => measured("1024 256 float sum -1 10.0 1.0 1.0 0\n".repeat(1e6)),
  "points of 190 digits": () => `box\tallreduce\t4\t1\t${NINES}\t39.93\t\n`,
  "points of 190 GPUs": () => `box\tallreduce\t${NINES}\t1\t1048576\t39.93\t\n`,
  "100,000 points": () => times(100_000, (i) => `box\tallreduce\t4\t1\t${1024 * (i + 1)}\t${1 + i / 1e5}\t\n`).join(""),
  "30 MB of hashes": () => "#".repeat(3e7),
  "30 MB of one line": () => "1 ".repeat(15e6),
  "30 MB of prefixes": () => "[1,0]<stdout>:".repeat(2e6),
  "JSON of a million rows": () =>
    `{"results":[${times(1e6, () => '{"size":1024,"out_of_place":{"time":1,"bus_bw":1}}').join()}]}`,
};

export const fileCases = [
  ...Object.entries(collectives).map(([name, content]) => ({
    name: `custom: ${name}`,
    command: "banyan synth mesh:3x3 --collective custom:c.json",
    files: { "c.json": content },
  })),
  ...[
    "bound",
    "compare --sizes 1MiB",
    "export --to svg -o x.svg",
    "synth --algorithm mcf",
    "synth --algorithm forestcoll",
    "synth --algorithm direct",
    "synth --algorithm sccl",
    "synth --algorithm taccl",
    "synth --algorithm tacos-ilp",
    "synth --algorithm auto",
  ].map((command) => ({
    name: `custom by ${command}`,
    command: `banyan ${command.replace(" ", " mesh:3x3 ").replace(/^bound$/, "bound mesh:3x3")} --collective custom:c.json`,
    files: { "c.json": collectives["60,000 chunks, one to one"] },
  })),
  ...Object.entries(entries).map(([name, content]) => ({
    name: `collectives: ${name}`,
    command: "banyan synth mesh:3x3 --collectives c.json",
    files: { "c.json": content },
  })),
  {
    name: "collectives by programs: 2,000 broadcasts",
    command: "banyan synth mesh:3x3 --collectives c.json --algorithm tacos-ilp",
    files: { "c.json": entries["2,000 broadcasts"] },
  },
  {
    name: "collectives through a switch: 2,000 broadcasts",
    command: "banyan synth switch:9 --collectives c.json",
    files: { "c.json": entries["2,000 broadcasts"] },
  },
  {
    name: "collectives on 400 NPUs: 500 broadcasts",
    command: "banyan synth mesh:20x20 --collectives c.json",
    files: { "c.json": () => json(times(500, (i) => ({ kind: "broadcast", root: i % 9 }))) },
  },
  ...Object.entries(sketches).map(([name, content]) => ({
    name: `sketch: ${name}`,
    command: "banyan synth n.json --collective allgather --algorithm taccl --time-limit 1s --sketch k.json",
    files: { "k.json": content },
  })),
  ...Object.entries(changed).map(([name, [command, file, change]]) => {
    const [verb, ...options] = command.split(" ");
    return {
      name,
      command: `banyan ${verb} b-${file} ${options.join(" ")}`,
      change: { file, to: `b-${file}`, with: change },
    };
  }),
  ...Object.entries(logs).map(([name, content]) => ({
    name: `measurements: ${name}`,
    command: "banyan calibrate ring:4 m.txt --collective allreduce",
    files: { "m.txt": content },
  })),
  {
    name: "a debug log of a million lines",
    command: "banyan explain p.json --log l.txt",
    files: {
      "l.txt": () =>
        "node1:812:812 [0] NCCL INFO AllReduce: opCount 1f sendbuff 0x7f00 recvbuff 0x7f00 count 1024 datatype 7 op 0 root 0 comm 0x55d0 [nranks=8] stream 0x1\n".repeat(
          2e5,
        ),
    },
  },
  {
    name: "a debug log of one line",
    command: "banyan explain p.json --log l.txt",
    files: { "l.txt": () => "NCCL INFO ".repeat(3e6) },
  },
];
