import type { CommandName } from "./protocol.ts";

/** Examples below each command's help. */
export const EXAMPLES: Readonly<Record<CommandName | "banyan", readonly string[]>> = {
  banyan: [
    "Start with:",
    "  banyan synth dgx-a100:2 --collective allreduce --size 256MiB -o schedule.json",
    "  banyan verify schedule.json",
    "  banyan compare dgx-a100:2 --collective allreduce --sizes 1MiB,1GiB",
    "  banyan list presets",
    "",
    "Exit codes: 0 done; 1 a check failed; 2 bad input, or output that cannot be written; 3 no schedule exists; 130 interrupted.",
  ],
  topology: [
    "banyan topology dgx-h100:2",
    "banyan topology torus:8x8@100,50GB/s,0.7us -o torus.json",
    "banyan topology 'L3(C(16,{3,4}))@25Gbps,10us'",
    "banyan topology mesh:4x4 --without 7,9 --degrade 0-1=0.5 --json",
    "banyan topology ndv2.json --nodes 2 --profile-size 1MB --profile-scale 1",
  ],
  bound: [
    "banyan bound mesh:3x3 --collective allreduce --size 64MiB",
    "banyan bound dgx-a100:2 --collective broadcast --root 3 --chunks 16",
    "banyan bound dgx-h100:2 --collective allreduce --without-each links,rail0",
    "banyan bound 'Pi(4,64)@25Gbps,10us' --collective alltoall --size 64MiB",
    "banyan bound fat-tree:8x8,leaf=4 --collective allgather --group 0,8,16,24 --json",
  ],
  synth: [
    "banyan synth dgx-a100:2 --collective allreduce --size 256MiB -o schedule.json",
    "banyan synth mesh:10x10@50GiB/s,0.5us --collective allgather --size 1GiB --json",
    "banyan synth mesh:4x4 --without 7,9 --collective allreduce --size 64MiB",
    "banyan synth dgx-a100:2 --collective allreduce --size 1MiB --algorithm auto --time-limit 5s",
    "banyan synth mesh:100x100 --collective allgather -o big.bys",
    "banyan synth 'L3(C(16,{3,4}))@25Gbps,10us' --collective allreduce --size 1MiB --algorithm expand",
    "banyan synth 'Torus(8,8)' --collective alltoall --algorithm mcf",
    "banyan synth dgx-a100:2 --collective custom:bytes.csv --algorithm mcf",
    "banyan synth cluster.csv --collective custom:halo.json --trials 64",
    "banyan synth mesh:4x4 --collective allgather --size 16MiB --algorithm tacos-ilp --time-limit 60s",
    "banyan synth 'ring:2*fc:4@200,90GB/s' --collective broadcast --chunks 2 --size 8MiB --algorithm tacos-ilp --discretization 7us",
    "banyan synth topo-ndv2-1MB.json --sketch sk1-ndv2-n2.json --collective allgather --size 16MiB --algorithm taccl",
    "banyan synth torus:200x200 --collective allreduce --algorithm themis -o phases.json",
    "banyan synth dgx-h100:4 --collective allreduce --algorithm themis --offload",
    "banyan synth mesh:6x6 --collectives tenants.json -o joint.json",
    "banyan synth dgx-h100:128 --collective allgather --algorithm forestcoll -o trees.json",
    "banyan synth dgx-h100:128 --without 0-rail0 --repair trees.json",
    "banyan synth dgx-a100:2 --collective allgather --algorithm forestcoll --without-each 0-ib,3,8-ib",
  ],
  verify: [
    "banyan verify schedule.json",
    "banyan verify big.bys",
    "banyan verify schedule.json --topology dgx-a100:2 --json",
    "banyan verify allreduce.xml --target azure",
    "banyan verify plan.json --target mscclpp --json",
  ],
  simulate: [
    "banyan simulate schedule.json",
    "banyan simulate schedule.json --switching store-and-forward --trace trace.json",
    "banyan simulate schedule.json --reference --json",
    "banyan simulate allreduce.xml --topology dgx-a100:2 --size 256MiB",
  ],
  export: [
    "banyan export big.bys --to json -o small.json",
    "banyan export schedule.json --to perfetto -o plan.json",
    "banyan export trees.json --to steps -o steps.json",
    "banyan export trees.json --to msccl-xml --dialect rccl -o allreduce.xml",
    "nvidia-smi topo -m | banyan export - --gpu h100 --collective allgather --algorithm forestcoll --to msccl-xml -o ag.xml",
    "banyan export dgx-a100:2 --collective allreduce --sizes 64KiB,1MiB,64MiB --to msccl-xml -o algorithms",
    "banyan export old.xml --to msccl-xml --dialect azure --max-bytes 32MiB -o new.xml",
  ],
  compare: [
    "banyan compare dgx-a100:2 --collective allreduce --sizes 64KiB,16MiB,1GiB",
    "banyan compare torus:8x8 --collective alltoall --sizes 1MiB --algorithms tacos,direct --format csv",
    "banyan compare dgx-a100:2 --collective allreduce --sizes 64KiB,64MiB --format tuner -o tuner.csv",
    "banyan compare dgx-h100:2 --collective allgather --sizes 1KiB,32KiB,1MiB,32MiB,1GiB --format svg -o plot.svg",
  ],
  train: [
    "banyan train llama3-70b dgx-h100:8 --parallel tp=8,pp=4,dp=2 --batch 128 --seq 8192 --algorithms library",
    "banyan train llama3-8b dgx-h100:1 --batch 64",
    "banyan train llama3-8b dgx-a100:2 --parallel zero=3 --batch 32 --algorithms library,ideal --details",
    "banyan train llama3-8b dgx-h100:1 -p tp=4,pp=2 --batch 16 --algorithms ring --trace step.json --svg step.svg",
    "banyan train gpt2-xl torus:4x4 --accelerator a100 -p zero=3 --batch 64 --without 0-1 --algorithms library",
  ],
  plan: [
    "banyan plan gpt2-medium dgx-h100:1 --batch 64 --memory 16GiB",
    "banyan plan llama3-8b dgx-h100:2 --batch 32 --seq 8192 --mesh 2x8 --passes 1 --details",
    "banyan plan perceptron.json ring:4 --accelerator a100 --algorithms ring",
  ],
  calibrate: [
    "banyan calibrate dgx-a100:1 all_reduce_perf.log -o ours.json",
    "banyan calibrate dgx-h100:4 one-box.log four-boxes.log --regimes 3",
    "banyan calibrate torus:4x4 all_reduce.log --algorithm tacos -o ours.json",
    "banyan calibrate hgx-h200 measured.tsv --platform 'H200x8 NVLink4' --collective allreduce --algorithm nvls",
  ],
  search: [
    "banyan search --nodes 1024 --degree 4",
    "banyan search --nodes 12 --degree 4 --bidirectional --alpha 13us --size 1MiB:3,64MiB:1 --verify",
    "banyan search --nodes 256 --degree 4 --collective alltoall --svg frontier.svg",
    "banyan search --all --max-nodes 2000 --degrees 2,4,8,16",
  ],
  results: [
    "banyan results failures.sweep",
    "banyan results failures.sweep --where 'of_limit < 0.9 and status = done' --sort -us --limit 20",
    "banyan results failures.sweep --group collective,size --value 'median(us),max(us),count()'",
    "banyan results failures.sweep --pivot 'failures x size' --value 'max(us)' -o harm.svg",
    "banyan results failures.sweep --cell 'failures=0-ib, size=1MiB'",
    "banyan results failures.sweep --plot lines --x size --y algbw_GBps --colour collective -o lines.svg",
    "banyan results failures.sweep --sql 'select topology, min(us) from results group by all' -o best.csv",
    "banyan results failures.sweep -o links.parquet",
  ],
  atlas: [
    "banyan atlas dgx-h100:16 --collective allgather,allreduce --failures links,switches -o atlas",
    "banyan atlas lookup atlas --failed 0-rail0",
    "banyan atlas lookup atlas --failed 5-rail5 --collective allreduce -o repaired.json",
    "banyan atlas dgx-h100:16 --on 0-rail0 --failures nics -o atlas",
    "banyan atlas lookup atlas --failed 0-rail0,3-rail3 --json",
  ],
  run: ["banyan run allreduce.xml", "banyan run plan.json --dtype f32 --size 1MiB --placement in --seed 7"],
  probe: [
    "banyan probe --launch 'mpirun -np 8 --hostfile hosts' -o found.json",
    "banyan probe --np 4 --quick --raw measured.json",
    "banyan probe --from measured.json --to taccl -o profile.json",
    "banyan probe --over nccl --launch 'torchrun --nproc-per-node 8' -o box.json",
    "banyan probe --lab ring:4 --collective allgather --sizes 1MiB,4MiB",
  ],
  lab: [
    "banyan lab ring:4",
    "banyan lab torus:3x3 --collective allreduce --sizes 1MiB,4MiB --library all",
    "banyan lab mesh:4x4 --without 5 --rate 20Mbps --mpi mpich",
    "banyan lab ring:4 -- ./program argument",
    "banyan lab --clean",
  ],
  explain: [
    "banyan explain trees.json",
    "banyan explain allreduce.xml --size 1MiB --dtype bf16 --target rccl",
    "banyan explain allreduce.xml --log nccl-debug.log",
  ],
  help: ["banyan help synth", "banyan help --man | man -l -"],
  completion: [
    "source <(banyan completion bash)",
    "banyan completion zsh > ~/.zfunc/_banyan",
    "banyan completion fish > ~/.config/fish/completions/banyan.fish",
  ],
  sweep: [
    "banyan sweep failures.yaml --dry-run",
    "banyan sweep failures.yaml",
    "banyan sweep failures.yaml --jobs 4 --memory 4GiB -o failures.sweep",
  ],
  worker: [
    "banyan worker redis://queue.example:6379 --concurrency 8 --memory 4GiB",
    "BANYAN_REDIS_PASSWORD_FILE=secret banyan worker 'rediss://queue.example?ca=ca.pem'",
    "banyan worker redis://queue.example --script workers.sh && sbatch --ntasks=64 workers.sh",
  ],
  serve: [
    "banyan serve",
    "banyan serve dgx-a100:2",
    "banyan serve schedule.json --port 9000",
    "nvidia-smi topo -m | banyan serve -",
  ],
  list: [
    "banyan list presets",
    "banyan list algorithms --topology dgx-a100:2 --collective allreduce",
    "banyan list backends --json",
  ],
};

const NETWORK = `Node names are those of \`banyan topology\`. Links: a>b one direction, a-b both, a>b#2 the second of parallel links.
Constructions of graphs such as 'L3(C(16,{3,4}))' have brackets, so quote them in a shell.\n\n`;

const DIRECT = `Networks of direct links: bfb broadcasts breadth-first with balanced links, on any of them. expand takes the schedule that
comes with a construction, or bfb's where it is better; --policy expansion or bfb keeps to one. Both choose the chunks unless
--chunks says them. mcf makes all-to-alls along a maximum concurrent flow, through switches too, and proves the limit.

--collective custom:FILE: a banyan-collective, or the matrix of an all-to-all-v, as text: row i, column j is what NPU i sends to
NPU j, in bytes (4096, 5M, 1GiB) or, with --size, as parts of it from 0 to 1.`;

/** Further words on a command. */
export const NOTES: Readonly<Partial<Record<CommandName, string>>> = {
  topology: NETWORK,
  bound: `Times that are proved, in the model of the simulation. The limit holds for any algorithm, any chunks and any pipelining.
A class limit, where it is greater, holds for schedules of whole chunks over the routes that it names, or for switches that only
forward. --details adds the bound of planned times, in which a link is busy for the latency too, and the ideal of the TACOS
papers, which is no bound. The limit of an all-to-all is proved by its maximum concurrent flow where that is found in seconds,
else by cuts: \`synth --algorithm mcf\` finds it at any size.\n\n${NETWORK}`,
  synth: `The report has one scale, the network's: serialisation occupies a link, latency does not. limit <= class limit <= schedule:
what any algorithm needs, what schedules like this one need (whole chunks over these routes, switches that only forward, each byte
summed at one NPU, one dimension after the other), and what this one takes, simulated. gap: what lies between, and what would make
it less. --details adds planned times (link-busy: a transfer occupies its route for latency and serialisation) with their bound,
the rate that is proved for trees, and the ideal of the TACOS papers, which is no bound.

Trees (forestcoll, blink, multitree): throughput is what they reach with ever more pieces, as an exact fraction; their time is in
as many pieces as are fastest at this size (--chunks fixes the number). What the certificate in the file proves for every schedule
is a limit, what it proves for trees a class limit. --k of an all-reduce fixes the trees of reduce-scatter and then all-gather.
--offload lets forestcoll count on switches that sum and duplicate, on any network: both directions of an all-reduce side by side.

Phases (themis, blueconnect): reduce-scatters and all-gathers within the dimensions of a product network. Up to 2e6 transfers they
become steps as above; larger ones stay phases, simulated dimension by dimension (model: dimensions). used: bytes sent / (time x
bandwidth); --chunks cuts the data, default what is fastest; --offload lets switches sum and duplicate. Groups (--group) along some
of the dimensions, or of parts of them, have the phases of these; around links that failed they are steps with detours.

--algorithm auto tries all that apply, cheap and promising ones first, until --time-limit, and keeps the verified schedule of
least simulated time; the report says what was tried and what was left out. --trials, --switch-degree and --chunks go to those
that make steps, --k to those that make trees; --policy is refused, and --repair of trees, which only their makers
repair. Where the time limit left algorithms out, the result depends on the clock and says so ("deterministic": false).

${DIRECT}\n\n${NETWORK}`,
  verify: `A program is executed symbolically: connections, deadlock, uninitialised reads, races, bounds, and what it computes. A
schedule is judged by the rules of the link-busy model alone: the chunk is at the source when a transfer departs, no link is
overfull, every rank ends with what it wants, and a reduction has every contribution exactly once.\n\n`,
  simulate: `The order of transfers on each link is kept, planned times are dropped: everything starts as soon as it can.\n\n`,
  export: `A .bys file holds the same as JSON, compressed, with checksums; FORMATS.md has both.\n\n`,
  calibrate: `time = hops x latency + bytes over the bottleneck / bandwidth, as the algorithm sends over the network: ring (through every
card of a box where there are several boxes), tree (chains and double binary trees) or nvls. For any other algorithm the schedule
that \`synth\` makes for TOPO is simulated at every size, and time = hops x latency + bytes / bandwidth along its critical path, which is
found again with the figures of each fit until nothing changes. A network without boxes takes logs of any number of hosts, so
also of hosts with one GPU each. Relative errors are weighed alike.
Logs of one box tell the links inside, those of several the links between; what they do not determine stays as it was, and the
report says why. +- is one standard error. What a call costs by itself (launch) is not part of a network; logs of one box with
several numbers of ranks separate it from the latencies. Libraries change protocol with the size: --regimes shows lines of their own for ranges of sizes.\n\n`,
  train: `collectives: who makes them. library: the fastest of what NCCL, RCCL and MPI have; best: of all algorithms here that need no
solver; ideal: the proved limit of any algorithm, with which nothing is made. Every schedule is verified, simulated, and shares links
with what runs at the same time. MFU: operations of the model (nothing computed again counts) over the peak of all NPUs. Shares of
the step are means over the stages: computing, waiting for communication (exposed) by who communicates, waiting for other stages
(bubble). Kernels are taken at fitted shares of the peaks: compare rows with each other first, and with a clock last.\n\n${NETWORK}`,
  plan: `Every tensor has a state on each axis of the mesh: whole on all NPUs, dealt along one of its dimensions, or a summand that is
still to be summed; forward tensors are kept, made again in the backward pass, or dropped. All collectives follow from that. The
search takes an NPU's computing with what it waits for, and each axis's traffic, as the step's time, and proves how far any plan of
the mesh may be below; its plans, and the best made by hand (data, FSDP, tensor, sequence, expert), are then simulated as steps.
Pipeline stages are cut between layers by dynamic programming, then searched one by one.\n\n${NETWORK}`,
  probe: `Each batch of measurements is one job. Flows start at a common time, go in pieces that MPI sends at once, and are timed where
they arrive; clocks of machines are set right by ping-pongs. What is inferred: latency and bandwidth of pairs, ports, links that
several pairs share, switches and what is between them, pairs whose messages others forward. The check holds it against random mixes
of flows that it was not made of; what does not fit is said, and then the network is a guess. +- is one standard error. --launch must
place the processes the same way each time, and the program (kept in BANYAN_CACHE_DIR) must be there on all machines. Over torch
--launch starts a script by the Python of torchrun; --np takes python3, or BANYAN_PYTHON. With nccl the memory of CPUs is measured too.\n\n`,
  search: `T_L: comm steps of an all-gather times alpha. T_B: time of its bytes, in M/B (buffer by bandwidth of a node). An all-reduce
takes both twice. No other found network has less of both; for all-to-alls further ones are tried and the fastest is listed too.
Moore: as few steps as any network of that size can have. BW: T_B is the least there is. f: rate of an all-to-all from each node
to each, in units of a link. bound: proved for each figure by itself. *: the fastest. --bandwidth is that of a node, the one behind
"@" in a construction that of each link.\n\n`,
  worker: `A worker does tasks of sweeps that were started with --engine redis://... and the same address. After Ctrl-C or SIGTERM what
runs may end (--grace), the rest is handed back; the second signal ends it at once. A worker of another version, or without the
native build where a sweep asks for it, is refused (exit code 2). User and password: in the address, or the password in
BANYAN_REDIS_PASSWORD, or in the file that BANYAN_REDIS_PASSWORD_FILE names. Parameters of the address: prefix=NAME, patience=600
(seconds that a lost server is waited for); with rediss:// ca=FILE, insecure=1, servername=NAME. With --share a worker does one
share of a folder that --engine slurm made, without a server.\n\n`,
  results: `Conditions: columns are compared (=, !=, <, <=, >, >=, in (...), like 'a%', is null) and joined by and, or, not. Texts need quotes
only where they have blanks, commas or brackets in them; texts that are numbers or sizes (size >= 1MiB) are compared as these.
What is compared with nothing is neither true nor false. best: the least of times and prices, the most of bandwidths and shares.
count: how many equal failures a row stands for.\n\n`,
  atlas: `For each class of failures, alike by a symmetry of the network, one schedule is made, verified and kept in the folder, ranked by
harm. index.json says it all to programs, index.html to people. A folder that is there is added to: more failures, more collectives,
and an atlas that was interrupted goes on. lookup reads index.json only, unless a schedule is to be moved to an alike failure, which
is verified and kept. It exits with 1 where the atlas has no such failure, and says what adds it.\n\n${NETWORK}`,
  serve: `The app works in the browser; nothing is sent anywhere. FILE is read again whenever the page is loaded. Requests from other
machines need --host.\n\n`,
  compare: `% of limit: 100 % is as fast as any algorithm can be. * marks the fastest of its size (simulated time). Every line is a
schedule that the independent judge found correct. chunks: the --chunks with which \`synth\` makes it; compare chooses them where
--chunks does not say, synth takes 1 unless it is auto. NCCL model: what NCCL's own cost model predicts for the algorithm, protocol
and channels that it would choose; no measurement, never marked.\n\n${NETWORK}`,
};
