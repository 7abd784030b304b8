// Fields changed between two states of a record, with old and new values.

import { fieldTitle } from "../names/custom-fields.ts";
import { Value } from "./value.tsx";

interface FieldChangesProps {
  readonly changes: readonly { readonly field: string; readonly from?: unknown; readonly to?: unknown }[];
  /** Instants for resolving references on either side; null for now. */
  readonly from: string | null;
  readonly to: string | null;
}

export function FieldChanges({ changes, from, to }: FieldChangesProps) {
  return (
    <dl class="fields">
      {changes.map(({ field, from: before, to: after }) => (
        <div key={field}>
          <dt>{fieldTitle(field)}</dt>
          <dd>
            <ValueChange field={field} before={before} after={after} from={from} to={to} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface ValueChangeProps {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly from: string | null;
  readonly to: string | null;
}

/** Lists show only removed and added entries: a forwarding table has thousands. */
function ValueChange({ field, before, after, from, to }: ValueChangeProps) {
  const [oldTexts, newTexts] = [textsIn(before), textsIn(after)];
  if (oldTexts === null || newTexts === null || (oldTexts.length === 0 && newTexts.length === 0))
    return <OldToNew {...{ field, before, after, from, to }} />;
  const [oldSet, newSet] = [new Set(oldTexts), new Set(newTexts)];
  const [removed, added] = [oldTexts.filter((text) => !newSet.has(text)), newTexts.filter((text) => !oldSet.has(text))];
  if (removed.length + added.length === 0) return <>reordered</>;
  return (
    <>
      {removed.length > 0 && (
        <del>
          − <Value field={field} value={removed} at={from} />
        </del>
      )}{" "}
      {added.length > 0 && (
        <ins>
          + <Value field={field} value={added} at={to} />
        </ins>
      )}
    </>
  );
}

/** Both values in full. */
export function OldToNew({ field, before, after, from, to }: ValueChangeProps) {
  return (
    <>
      <del>
        <Value field={field} value={before} at={from} />
      </del>{" "}
      <span aria-hidden="true">→</span>{" "}
      <ins>
        <Value field={field} value={after} at={to} />
      </ins>
    </>
  );
}

/** Null for anything but a list of strings; a missing value counts as an empty list. */
function textsIn(value: unknown): readonly string[] | null {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : null;
}
