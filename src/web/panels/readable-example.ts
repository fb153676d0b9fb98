/** A network in the project's own format; FORMATS.md says all of it. */
export const EXAMPLE = `{ "format": "banyan-topology", "version": 1,
  "nodes": [ { "id": "a", "kind": "npu" }, { "id": "b", "kind": "npu" },
             { "id": "sw", "kind": "switch" } ],
  "links": [ { "from": "a", "to": "sw", "bandwidthGBps": 50, "latencyUs": 0.5, "bidirectional": true },
             { "from": "b", "to": "sw", "bandwidth": "400Gbps", "latency": "500ns", "bidirectional": true } ] }`;
