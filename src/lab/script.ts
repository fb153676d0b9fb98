import { isNpu } from "../model/topology/topology.ts";
import {
  DATA_DEVICE,
  dataAddress,
  gatewayAddress,
  hardwareAddress,
  hostName,
  MANAGEMENT_DEVICE,
  managementAddress,
} from "./addresses.ts";
import { cablesOf, type LabCable, type LabNetwork } from "./network.ts";
import type { Forwarding, Hop } from "./paths.ts";

/** Where a laboratory keeps what it needs: in memory, seen by its own processes only. */
export const LAB_FOLDER = "/run/netns/.lab";

/** What the script that builds a laboratory says at its end. */
export const READY = "laboratory ready";
export const HAS_DELAY = "with delays";

const FRAME_BYTES = 1514;
/**
 * What may go at once of a message: so many frames as pass in this time, some at least. The kernel hands such bundles on without
 * looking at their frames, which is what two cores can carry; larger ones, and larger bursts, make small messages too fast.
 */
const BUNDLE_SECONDS = 3e-4;
const LEAST_BUNDLE_FRAMES = 2;
const MOST_BUNDLE_FRAMES = 5;
/** What may wait for a link: so much that nothing is lost, for TCP is slow to make up for it. */
const QUEUE_SECONDS = 0.5;
const LEAST_QUEUE_BYTES = 2 ** 18;

/** Returns how many frames of a message go on as one, where the fastest link has so many bytes per second. */
export function bundleFrames(bytesPerSecond: number): number {
  const frames = Math.round((bytesPerSecond * BUNDLE_SECONDS) / FRAME_BYTES);
  return Math.min(MOST_BUNDLE_FRAMES, Math.max(LEAST_BUNDLE_FRAMES, frames));
}

/** Returns the token bucket of a link: bits per second, bytes that may pass at once (a bundle), and that may wait. */
export function bucketOf(bytesPerSecond: number, frames: number): { rate: number; burst: number; limit: number } {
  const burst = (frames + 1) * FRAME_BYTES;
  const limit = burst + Math.max(LEAST_QUEUE_BYTES, Math.ceil(bytesPerSecond * QUEUE_SECONDS));
  return { rate: bytesPerSecond * 8, burst, limit };
}

/** What passes a link first: acknowledgements; all else passes last. */
const FIRST_CLASS = 1;
const LAST_CLASS = 2;

/**
 * Returns what `tc` does to shape a device: one bucket, from which acknowledgements (TCP without data: shorter than 64 bytes) take
 * first. Behind data they would hold up the data of the other direction, which networks without TCP know nothing of.
 */
function bucketLines(device: string, rate: number, burst: number, limit: number): string[] {
  const bucket = `ceil ${rate}bit burst ${burst} cburst ${burst} quantum ${burst}`;
  const one = (name: number): string =>
    `class add ${device} parent 1:9 classid 1:${name} htb prio ${name} rate 8bit ${bucket}`;
  return [
    `qdisc add ${device} root handle 1: htb default ${LAST_CLASS}`,
    `class add ${device} parent 1: classid 1:9 htb rate ${rate}bit ${bucket}`,
    ...[FIRST_CLASS, LAST_CLASS].map(one),
    `filter add ${device} parent 1: protocol ip u32 match u16 0 0xffc0 at 2 flowid 1:${FIRST_CLASS}`,
    `qdisc add ${device} parent 1:${LAST_CLASS} bfifo limit ${limit}`,
  ];
}

/** First of the tables that have ways unlike an NPU's own. */
const FIRST_TABLE = 100;

const batch = (command: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : `${command} -batch - <<'.'\n${lines.join("\n")}\n.\n`;

/** Returns the neighbours of each node, by the cables. */
function neighboursOf(nodes: number, cables: readonly LabCable[]): number[][] {
  const neighbours: number[][] = Array.from({ length: nodes }, () => []);
  for (const { ends } of cables) {
    neighbours[ends[0]]?.push(ends[1]);
    neighbours[ends[1]]?.push(ends[0]);
  }
  return neighbours;
}

/** Returns what `ip` does in an NPU's namespace. */
function npuLines(npu: number, npuCount: number, neighbours: readonly number[], forwarding: Forwarding): string[] {
  const lines = [
    "link set lo up",
    `addr add ${managementAddress(npu)}/24 dev ${MANAGEMENT_DEVICE}`,
    `link set ${MANAGEMENT_DEVICE} up`,
    // Open MPI takes no addresses of lo across hosts, and a bridge needs no module beyond that of the switches
    `link add name ${DATA_DEVICE} type bridge`,
    `addr add ${dataAddress(npu)}/32 dev ${DATA_DEVICE}`,
    `link set ${DATA_DEVICE} up`,
    ...neighbours.map((node) => `link set e${node} up`),
  ];
  const known = new Set<string>();
  const reach = ({ npu: next, from, by }: Hop): string => {
    const gateway = gatewayAddress(next, from);
    if (!known.has(`${gateway} ${by}`)) {
      known.add(`${gateway} ${by}`);
      lines.push(`neigh add ${gateway} dev e${by} lladdr ${hardwareAddress(next, from)} nud permanent`);
    }
    return `via ${gateway} dev e${by} onlink`;
  };
  for (let target = 0; target < npuCount; target++) {
    const hop = forwarding.hops[npu * npuCount + target];
    if (hop == null) continue;
    lines.push(`route add ${dataAddress(target)}/32 ${reach(hop)} src ${dataAddress(npu)} congctl cubic`);
  }
  const tables = new Map<string, number>();
  const routed = new Set<string>();
  for (const { npu: at, source, target, hop } of forwarding.exceptions) {
    if (at !== npu) continue;
    const way = reach(hop);
    const table = tables.get(way) ?? FIRST_TABLE + tables.size;
    tables.set(way, table);
    const to = `${dataAddress(target)}/32`;
    if (!routed.has(`${table} ${to}`)) lines.push(`route add ${to} ${way} table ${table}`);
    routed.add(`${table} ${to}`);
    lines.push(`rule add from ${dataAddress(source)}/32 to ${to} lookup ${table}`);
  }
  return lines;
}

/** Returns what `ip` does in a switch's namespace: a bridge that learns nothing and floods nothing, for it is told all. */
const switchLines = (neighbours: readonly number[]): string[] => [
  "link add name br0 type bridge stp_state 0 mcast_snooping 0",
  ...neighbours.flatMap((node) => [
    `link set e${node} master br0 up`,
    `link set e${node} type bridge_slave learning off flood off mcast_flood off`,
  ]),
  "link set br0 up",
];

const forwardLines = (known: ReadonlyMap<string, number> | undefined): string[] =>
  [...(known ?? [])].map(([entry, node]) => {
    const [npu, from] = entry.split(":").map(Number) as [number, number];
    return `fdb add ${hardwareAddress(npu, from)} dev e${node} master static`;
  });

/** Returns what enters an NPU's namespaces: `enter NPU COMMAND...`. */
const ENTER = `#!/bin/sh
npu=$1
shift
exec ip netns exec "n$npu" nsenter --uts="${LAB_FOLDER}/uts$npu" "$@"
`;

/** Returns what MPI's launchers call as if it were ssh: \`agent ADDRESS COMMAND...\`; hydra puts options before the address. */
const AGENT = `#!/bin/sh
while [ "\${1#-}" != "$1" ]; do shift; done
npu=$((\${1##*.} - 1))
shift
exec "${LAB_FOLDER}/enter" "$npu" /bin/sh -c "$*"
`;

/**
 * Returns the script that builds a laboratory inside of namespaces of its own, for bash. It ends with a line READY, to which
 * HAS_DELAY is added where links got their delays. Names of the network are not in it. O(NPUs^2 + links).
 */
export function buildScript({ topology, factor }: LabNetwork, forwarding: Forwarding): string {
  const { npuCount } = topology;
  const nodes = topology.nodeNames.length;
  const cables = cablesOf(topology);
  const neighbours = neighboursOf(nodes, cables);
  const all = Array.from({ length: nodes }, (_, node) => node);
  const npus = all.slice(0, npuCount);
  const ends = cables.flatMap(({ ends: [a, b], links: [there, back] }) => [
    { at: a, to: b, link: there },
    { at: b, to: a, link: back },
  ]);
  const shaped = (node: number): string[] =>
    ends.flatMap(({ at, to, link }) => {
      if (at !== node || link === null) return [];
      const { rate, burst, limit } = bucketOf(topology.linkBytesPerSecond[link], frames);
      return bucketLines(`dev e${to}`, rate, burst, limit);
    });
  const delayed = (node: number): string[] =>
    ends.flatMap(({ at, to, link }) => {
      const us = at === node && link !== null ? Math.round((topology.linkLatencyPs[link] * factor) / 1e6) : 0;
      return us === 0
        ? []
        : [FIRST_CLASS, LAST_CLASS].map(
            (one) => `qdisc replace dev e${to} parent 1:${one} netem delay ${us}us limit 100000`,
          );
    });
  const frames = bundleFrames(topology.linkBytesPerSecond.reduce((most, rate) => Math.max(most, rate), 0));
  const bundle = `gso_max_segs ${frames}`;
  const hosts = ["127.0.0.1 localhost", ...npus.map((npu) => `${dataAddress(npu)} ${hostName(npu)}`)];
  return `set -e
export PATH="$PATH:/usr/sbin:/sbin"
[ -d /run/netns ] || { mount -t tmpfs none /run; mkdir /run/netns; }
mount -t tmpfs none /run/netns
mount -t tmpfs none /dev/shm
mkdir -p ${LAB_FOLDER}/tmp
cat > ${LAB_FOLDER}/enter <<'.'
${ENTER}.
cat > ${LAB_FOLDER}/agent <<'.'
${AGENT}.
chmod +x ${LAB_FOLDER}/enter ${LAB_FOLDER}/agent
cat > ${LAB_FOLDER}/hosts <<'.'
${hosts.join("\n")}
.
mount --bind ${LAB_FOLDER}/hosts /etc/hosts
ip link set lo up
delays=
if tc qdisc add dev lo root netem delay 1us 2> /dev/null; then tc qdisc del dev lo root; delays=yes; fi
${batch("ip", [...all.map((node) => `netns add n${node}`), "link add name mgmt type bridge", "link set mgmt up"])}prepare() {
  echo 1 > /proc/sys/net/ipv4/ip_forward
  for conf in all default; do
    echo 0 > /proc/sys/net/ipv4/conf/$conf/rp_filter
    echo 0 > /proc/sys/net/ipv4/conf/$conf/send_redirects
  done
  echo 0 > /proc/sys/net/ipv4/tcp_slow_start_after_idle
}
export -f prepare
for npu in ${npus.join(" ")}; do
  nsenter --net=/run/netns/n$npu bash -c prepare
  touch ${LAB_FOLDER}/uts$npu
  unshare --uts=${LAB_FOLDER}/uts$npu hostname ${hostName(0).slice(0, -1)}$npu
done
${batch("ip", [
  ...cables.map(({ ends: [a, b] }) => {
    const [one, other] = [hardwareAddress(a, b), hardwareAddress(b, a)];
    return `link add name e${b} netns n${a} address ${one} ${bundle} type veth peer name e${a} address ${other} ${bundle} netns n${b}`;
  }),
  ...npus.flatMap((npu) => [
    `link add name m${npu} type veth peer name ${MANAGEMENT_DEVICE} netns n${npu}`,
    `link set m${npu} master mgmt up`,
  ]),
])}${all
  .map((node) => {
    const lines = isNpu(topology, node)
      ? npuLines(node, npuCount, neighbours[node] as number[], forwarding)
      : switchLines(neighbours[node] as number[]);
    const delay = batch(`tc -n n${node}`, delayed(node));
    return [
      batch(`ip -n n${node}`, lines),
      batch(`bridge -n n${node}`, forwardLines(forwarding.switches.get(node))),
      batch(`tc -n n${node}`, shaped(node)),
      delay === "" ? "" : `if [ -n "$delays" ]; then\n${delay}fi\n`,
    ].join("");
  })
  .join("")}echo "${READY}\${delays:+ ${HAS_DELAY}}"
`;
}
