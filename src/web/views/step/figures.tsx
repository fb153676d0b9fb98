/** Figures of a step: name, value, and what is to be known of it, "" for nothing. */
export const Figures = ({ of }: { readonly of: readonly (readonly [string, string, string])[] }) => (
  <dl class="step-figures">
    {of.map(([name, value, note]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          <b>{value}</b>
          {note !== "" && <span>{note}</span>}
        </dd>
      </div>
    ))}
  </dl>
);
