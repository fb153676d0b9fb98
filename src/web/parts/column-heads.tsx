/** The heads of a table's columns: the first of names, the others of numbers, which stand at the right. */
export function ColumnHeads({ names: [first, ...numbers] }: { readonly names: readonly string[] }) {
  return (
    <thead>
      <tr>
        <th scope="col">{first}</th>
        {numbers.map((name) => (
          <th key={name} scope="col" class="n">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
