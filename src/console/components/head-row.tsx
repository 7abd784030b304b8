// Table header row.

interface HeadRowProps {
  /** False omits the column. */
  readonly heads: readonly (string | undefined | false)[];
  /** Headings of right-aligned columns. */
  readonly numbers?: readonly string[];
}

export function HeadRow({ heads, numbers = [] }: HeadRowProps) {
  return (
    <thead>
      <tr>
        {heads.map(
          (head) =>
            head !== false && (
              <th key={head} scope="col" class={numbers.includes(head ?? "") ? "is-number" : undefined}>
                {head}
              </th>
            ),
        )}
      </tr>
    </thead>
  );
}
