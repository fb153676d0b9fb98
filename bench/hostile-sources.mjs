// Things that are no plain files, wherever a file is wanted.

/** What makes a source called `x`; nothing of it outlives the shell. */
const SOURCES = {
  "a link to /dev/zero": "ln -sf /dev/zero x;",
  "a link to /dev/urandom": "ln -sf /dev/urandom x;",
  "/dev/full": "ln -sf /dev/full x;",
  "/dev/null": "ln -sf /dev/null x;",
  "a file of /proc": "ln -sf /proc/cpuinfo x;",
  "memory of a process": "ln -sf /proc/self/mem x;",
  "a loop of links": "ln -sf x y; ln -sf y x;",
  "a link to nothing": "ln -sf nothing x;",
  "a folder": "mkdir x;",
  "an empty file": ": > x;",
  "a sparse file of 100 GB": "truncate -s 100G x;",
  "a sparse file of 1 GB": "truncate -s 1G x;",
  "a pipe that yes fills": "mkfifo x; (yes > x) &",
  "a pipe that /dev/urandom fills": "mkfifo x; (cat /dev/urandom > x) &",
  "a pipe of brackets": "mkfifo x; (yes '[' > x) &",
  "a pipe of .bys": "mkfifo x; ((printf '\\x89BYS\\r\\n\\x1a\\n'; cat /dev/zero) > x) &",
  "a socket": `"$NODE" -e 'require("net").createServer().listen("x", () => process.exit())'; [ -e x ] || python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("x")';`,
  "a block device": 'ln -sf "$(ls /dev/loop0 /dev/sda /dev/vda /dev/nvme0n1 2>/dev/null | head -1)" x;',
};
const DOORS = {
  verify: "banyan verify x",
  topology: "banyan topology x",
  custom: "banyan synth ring:4 --collective custom:x",
  collectives: "banyan synth ring:4 --collectives x",
  sketch: "banyan synth dgx2:2 --collective allgather --algorithm taccl --sketch x",
  repair: "banyan synth ring:4 --collective allgather --algorithm forestcoll --repair x",
  calibrate: "banyan calibrate ring:4 x --collective allreduce",
  run: "banyan run x",
};
const cleanUp = "rm -rf x y";

/** Every source at one door, the worst at all of them: all read with the same function. */
const AT_ALL = ["a link to /dev/zero", "a folder"];

const everywhere = Object.entries(SOURCES).flatMap(([source, make], i) =>
  Object.entries(DOORS).flatMap(([door, command], j) =>
    !AT_ALL.includes(source) && i % 2 !== j
      ? []
      : [
          {
            name: `${source}: ${door}`,
            command: `${cleanUp}; ${make} (${command}); s=$?; kill %1 2>/dev/null; ${cleanUp}; exit $s`,
          },
        ],
  ),
);

const standardInput = [
  ["yes | banyan verify -", "verify"],
  ["yes '{' | banyan topology -", "topology"],
  ["yes | banyan topology -", "topology"],
  ["yes '- a' | banyan topology -", "topology, YAML"],
  ["yes '<a>' | banyan topology -", "topology, XML"],
  ["cat /dev/zero | banyan run -", "run"],
  ["tr '\\0' ' ' < /dev/zero | banyan topology -", "topology, blanks"],
  ["banyan verify - < /tmp", "a folder"],
  ["banyan verify - <&-", "closed"],
  ["banyan verify - < /dev/null", "empty"],
  ["yes 'a 1' | banyan calibrate ring:4 - --collective allreduce", "calibrate"],
  ["yes | banyan export - --to svg -o x.svg", "export"],
].map(([command, name]) => ({ name: `endless standard input: ${name}`, command }));

const others = [
  {
    name: "a name of 5,000 characters",
    command: `banyan verify ${"a".repeat(5000)}`,
  },
  {
    name: "a cache that is /dev/zero",
    command:
      "rm -rf cache; mkdir cache; for v in 1 2 3 4 5 6 7 8 9; do ln -s /dev/zero cache/networks-$v.json; done; (banyan search --nodes 8 --degree 2); s=$?; rm -rf cache; mkdir cache; exit $s",
  },
  {
    name: "a log that is /dev/zero",
    command: "ln -sf /dev/zero x; (banyan explain p.json --log x); s=$?; rm x; exit $s",
  },
  { name: "serve /dev/zero", command: "ln -sf /dev/zero x; (banyan serve x --port 0); s=$?; rm x; exit $s" },
  { name: "serve a folder", command: "(banyan serve /tmp --port 0)" },
  {
    name: "a folder of programs with /dev/zero",
    command: "rm -rf z; mkdir z; ln -s /dev/zero z/a.xml; (banyan verify z); s=$?; rm -rf z; exit $s",
  },
  {
    name: "a folder of programs with a loop",
    command: "rm -rf z; mkdir z; ln -s . z/a.xml; (banyan verify z); s=$?; rm -rf z; exit $s",
  },
  {
    name: "a file that shrinks",
    command:
      "(yes '# a long line of a table' | head -c 200000000 > x; (sleep 0.25; : > x) & banyan topology x); s=$?; rm -f x; exit $s",
  },
  {
    name: "a file that grows",
    command:
      "echo '#' > x; (while :; do head -c 1000000 /dev/zero | tr '\\0' '#' >> x; done) & (sleep 0.2; banyan topology x); s=$?; kill %1; rm -f x; exit $s",
  },
];

export const sourceCases = [...everywhere, ...standardInput, ...others];
