/** What the script of a laboratory would make: nodes with routes, rules, neighbours and tables of bridges, read from its text. */
export interface BuiltNode {
  /** Device: hardware address. */
  readonly devices: Map<string, string>;
  /** Table: destination: how it is reached. */
  readonly routes: Map<string, Map<string, { readonly gateway: string; readonly device: string }>>;
  readonly rules: { readonly from: string; readonly to: string; readonly table: string }[];
  /** "gateway device": hardware address. */
  readonly neighbours: Map<string, string>;
  /** Of a bridge: hardware address: device. */
  readonly forwarded: Map<string, string>;
  readonly addresses: Set<string>;
  /** Device: bits per second, burst, limit. */
  readonly buckets: Map<string, readonly [number, number, number]>;
  isBridge: boolean;
}

export interface BuiltNetwork {
  readonly nodes: readonly BuiltNode[];
  /** "node device": the other end. */
  readonly cables: Map<string, readonly [node: number, device: string]>;
}

/** Returns what a script makes. Throws for a line of a batch that it does not know. */
export function builtBy(script: string): BuiltNetwork {
  const nodes: BuiltNode[] = [];
  const cables: BuiltNetwork["cables"] = new Map();
  const nodeAt = (number: number): BuiltNode => {
    nodes[number] ??= {
      ...{ devices: new Map(), routes: new Map(), rules: [], neighbours: new Map(), forwarded: new Map() },
      ...{ addresses: new Set(), buckets: new Map(), isBridge: false },
    };
    return nodes[number];
  };
  for (const [, command, where, body] of script.matchAll(
    /^(ip|tc|bridge)(?: -n n(\d+))? -batch - <<'\.'\n([\s\S]*?)^\.$/gm,
  ))
    for (const line of (body as string).trim().split("\n")) {
      const words = line.split(" ");
      const after = (word: string): string => words[words.indexOf(word) + 1] as string;
      if (where === undefined) {
        const [, a, one, from, b, other, to] =
          /^link add name (\S+) netns n(\d+) address (\S+) .*peer name (\S+) address (\S+) .*netns n(\d+)$/.exec(
            line,
          ) ?? [];
        if (a === undefined) continue;
        const [left, right] = [Number(one), Number(to)];
        nodeAt(left).devices.set(a, from as string);
        nodeAt(right).devices.set(b as string, other as string);
        cables.set(`${left} ${a}`, [right, b as string]).set(`${right} ${b}`, [left, a]);
        continue;
      }
      const node = nodeAt(Number(where));
      if (command === "tc") {
        const [, device, rate, burst] =
          /^class add dev (\S+) parent 1: classid 1:9 htb rate (\d+)bit ceil \2bit burst (\d+) cburst \3 /.exec(line) ??
          [];
        if (device !== undefined) node.buckets.set(device, [Number(rate), Number(burst), 0]);
        const [bits, bytes] = node.buckets.get(after("dev")) ?? [0, 0];
        if (line.includes("bfifo")) node.buckets.set(after("dev"), [bits, bytes, Number(after("limit"))]);
      } else if (line.startsWith("fdb add")) node.forwarded.set(after("add"), after("dev"));
      else if (line.startsWith("route add")) {
        const table = words.includes("table") ? after("table") : "main";
        const routes = node.routes.get(table) ?? new Map();
        node.routes.set(table, routes.set(after("add"), { gateway: after("via"), device: after("dev") }));
      } else if (line.startsWith("rule add"))
        node.rules.push({ from: after("from"), to: after("to"), table: after("lookup") });
      else if (line.startsWith("neigh add")) {
        const key = `${after("add")} ${after("dev")}`;
        if (node.neighbours.has(key)) throw new Error(`twice: ${line}`);
        node.neighbours.set(key, after("lladdr"));
      } else if (line.startsWith("addr add")) node.addresses.add(after("add"));
      else if (line.includes("name br0 type bridge")) node.isBridge = true;
      else if (!/^link (?:set|add)/.test(line)) throw new Error(`unknown: ${line}`);
    }
  return { nodes, cables };
}

/** Returns the nodes that a packet comes by from one NPU's address to another's, as the kernel would forward it. Throws where it is lost. */
export function walked({ nodes, cables }: BuiltNetwork, source: number, target: number): number[] {
  const [from, to] = [source, target].map((npu) => `10.98.0.${npu + 1}/32`) as [string, string];
  const way = [source];
  let at = source;
  while (!nodes[at]?.addresses.has(to)) {
    const { rules, routes, neighbours } = nodes[at] as BuiltNode;
    const rule = at === source ? undefined : rules.find((one) => one.from === from && one.to === to);
    // a rule of one's own address holds for what one sends oneself, too
    if (at === source && rules.some((one) => one.from === from)) throw new Error("a rule for what is one's own");
    const route = routes.get(rule?.table ?? "main")?.get(to);
    if (route === undefined) throw new Error(`no route at ${at} to ${target}`);
    const address = neighbours.get(`${route.gateway} ${route.device}`);
    let end = cables.get(`${at} ${route.device}`);
    for (;;) {
      if (end === undefined || address === undefined || way.length > 200) throw new Error(`lost at ${at} to ${target}`);
      const [node, device] = end;
      way.push(node);
      at = node;
      const there = nodes[node] as BuiltNode;
      if (!there.isBridge) {
        if (there.devices.get(device) !== address) throw new Error(`${node} takes nothing for ${address}`);
        break;
      }
      const out = there.forwarded.get(address);
      if (out === undefined || out === device) throw new Error(`the bridge ${node} drops ${address}`);
      end = cables.get(`${node} ${out}`);
    }
  }
  return way;
}
