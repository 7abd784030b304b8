// Changes of a plan by record and field.

import { type EditedKind, kindWords } from "../kinds/kinds.ts";
import { UNTOLD_FIELDS } from "../kinds/untold-fields.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { shownName } from "../names/shown-name.ts";
import { groupedDigits } from "../text/digits.ts";
import { Value } from "../values/value.tsx";
import type { BulkChange } from "./writes.ts";

/** Changes listed; more are counted. */
const CHANGES_SHOWN = 30;

interface PlannedChangesProps {
  /** Kind of the edited records; other changed records show their kind. */
  readonly kind: EditedKind;
  readonly changes: readonly BulkChange[];
  /** Total number of changes. */
  readonly count: number;
}

export function PlannedChanges({ kind, changes, count }: PlannedChangesProps) {
  return (
    <>
      <ul class="bulk-changes">
        {changes.slice(0, CHANGES_SHOWN).map((change, row) => (
          <li key={change.id ?? row}>
            {change.entity_type !== kind && <>{kindWords(change.entity_type)[0]} </>}
            <bdi>{change.id === null ? change.name : shownName(change.id, change.name)}</bdi>:{" "}
            {change.operation === "Updated" ? <Updated fields={change.fields} /> : <Whole change={change} />}
          </li>
        ))}
      </ul>
      {count > CHANGES_SHOWN && <p class="aside">And {groupedDigits(count - CHANGES_SHOWN)} more.</p>}
    </>
  );
}

function Updated({ fields }: Pick<BulkChange, "fields">) {
  return (
    <>
      {fields
        .filter(({ field }) => !UNTOLD_FIELDS.has(field))
        .map(({ field, from, to }, position) => (
          <span key={field}>
            {position > 0 && "; "}
            {fieldTitle(field)}{" "}
            <del>
              <Value field={field} value={from} at={null} />
            </del>{" "}
            to{" "}
            <ins>
              <Value field={field} value={to} at={null} />
            </ins>
          </span>
        ))}
    </>
  );
}

/** Kinds fully described by their name. */
const NAMED_WHOLLY: ReadonlySet<string> = new Set(["binding"]);

/** Created record with its values, or a deleted record. */
function Whole({ change: { entity_type, operation, fields } }: { readonly change: BulkChange }) {
  if (operation === "Deleted") return <del>deleted</del>;
  const told = fields.filter(
    ({ field, to }) => !UNTOLD_FIELDS.has(field) && to !== "" && !(Array.isArray(to) && to.length === 0),
  );
  return (
    <>
      <ins>new</ins>
      {!NAMED_WHOLLY.has(entity_type) &&
        told.map(({ field, to }, position) => (
          <span key={field}>
            {position > 0 ? "; " : ", "}
            {fieldTitle(field)} <Value field={field} value={to} at={null} />
          </span>
        ))}
    </>
  );
}
