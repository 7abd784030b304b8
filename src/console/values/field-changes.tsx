// Changed fields between two states of a record, old and new value each.

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
            <OldAndNew field={field} before={before} after={after} from={from} to={to} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface OldAndNewProps {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly from: string | null;
  readonly to: string | null;
}

/** Lists show only removed and added entries: a forwarding table has thousands. */
function OldAndNew({ field, before, after, from, to }: OldAndNewProps) {
  const [old, now] = [textsIn(before), textsIn(after)];
  if (old === null || now === null || (old.length === 0 && now.length === 0))
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
  const [had, has] = [new Set(old), new Set(now)];
  const [went, came] = [old.filter((each) => !has.has(each)), now.filter((each) => !had.has(each))];
  if (went.length + came.length === 0) return <>in another order</>;
  return (
    <>
      {went.length > 0 && (
        <del>
          − <Value field={field} value={went} at={from} />
        </del>
      )}{" "}
      {came.length > 0 && (
        <ins>
          + <Value field={field} value={came} at={to} />
        </ins>
      )}
    </>
  );
}

/** Null for anything but a list of strings; a missing value is an empty list. */
function textsIn(value: unknown): readonly string[] | null {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : null;
}
