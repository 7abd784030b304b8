// Table cells and facts that show a changed field's previous value before the current one.

import type { ComponentChildren } from "preact";
import { Fact } from "../components/facts.tsx";
import { fieldLabel } from "../text/lists.ts";
import { PreviousValue } from "./comparison.tsx";

interface ChangedValueProps {
  /** Id of the record. */
  readonly id: string;
  readonly field: string;
  /** Current value. */
  readonly value: ComponentChildren;
}

export function ChangedCell({ id, field, value, className }: ChangedValueProps & { readonly className?: string }) {
  return (
    <td class={className}>
      <PreviousValue id={id} field={field} />
      {value}
    </td>
  );
}

/** @param name defaults to the field's label */
export function ChangedFact({ id, field, value, name = fieldLabel(field) }: ChangedValueProps & { name?: string }) {
  return (
    <Fact name={name}>
      <PreviousValue id={id} field={field} />
      {value}
    </Fact>
  );
}
