// A table of rows that scrolls within itself where it is wider than its page, by the keyboard too.

import type { ComponentChildren } from "preact";

interface RowsTableProps {
  /** What its rows are, for those who hear it. */
  readonly title: string;
  /** Of its columns; what is false is no column. */
  readonly heads: ReadonlyArray<string | undefined | false>;
  /** A class of its own, beside that of all such tables. */
  readonly kind?: string;
  /** Its rows. */
  readonly children: ComponentChildren;
}

export function RowsTable({ title, heads, kind, children }: RowsTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be focused
    <section class="table" tabIndex={0} aria-label={title}>
      <table class={kind === undefined ? "rows" : `rows ${kind}`}>
        <thead>
          <tr>
            {heads.map(
              (head) =>
                head !== false && (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
