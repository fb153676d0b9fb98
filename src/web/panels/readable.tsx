import { welcome } from "../state/store.ts";
import { EXAMPLE } from "./readable-example.ts";

/** What can be read, format by format, and an example to write one's own network after. */
export function Readable() {
  return (
    <>
      <ul class="open-file-formats">
        {welcome.value?.formats.map(({ name, description }) => (
          <li key={name}>
            <b>{name}</b>: {description}
          </li>
        ))}
        <li>
          <b>schedules and programs</b>: banyan-schedule JSON, .bys, trees, MSCCL XML, MSCCL++ plans
        </li>
      </ul>
      <p>A network as banyan-topology JSON:</p>
      <pre class="open-file-example lines">{EXAMPLE}</pre>
    </>
  );
}
