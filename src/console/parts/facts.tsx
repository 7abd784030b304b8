// What is known of something: names of fields with their values, one in a row.

import type { ComponentChildren } from "preact";

/** A row of a `<dl class="facts">`. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
