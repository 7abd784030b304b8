// Table that scrolls horizontally if wider than its page, by keyboard too.

import type { ComponentChildren } from "preact";

interface RowsTableProps {
  /** Row type, for screen readers. */
  readonly title: string;
  /** Column headings; false omits the column. */
  readonly heads: ReadonlyArray<string | undefined | false>;
  /** Additional CSS class. */
  readonly kind?: string;
  /** Rows. */
  readonly children: ComponentChildren;
}

export function RowsTable({ title, heads, kind, children }: RowsTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
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
