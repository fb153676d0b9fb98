import { bandsOf } from "../../draw/wire-paths.ts";
import type { NetworkView } from "../../protocol.ts";

/** The bandwidths that there are between linked nodes. */
export function Classes({ network }: { readonly network: NetworkView }) {
  const bands = bandsOf(network);
  return (
    <table class="network-classes">
      <caption>Bandwidth between linked nodes, the faster way</caption>
      <thead>
        <tr>
          <th>drawn as</th>
          <th>bandwidth</th>
          <th>pairs of nodes</th>
        </tr>
      </thead>
      <tbody>
        {network.classes.map(({ text, wires }, index) => (
          <tr key={text}>
            <td>
              <i style={{ borderTop: `${Math.max(2, bands[index].width)}px solid var(--band-${bands[index].step})` }} />
            </td>
            <td>{text}</td>
            <td>{wires}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
