// Planned changes by record and field.

import type { ComponentChildren } from "preact";
import { Value } from "../field-values/value.tsx";
import { HIDDEN_FIELDS } from "../kinds/hidden-fields.ts";
import { type EditedKind, kindWords } from "../kinds/kinds.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { shownName } from "../names/shown-name.ts";
import { groupedDigits } from "../text/digits.ts";
import type { BulkChange } from "./writes.ts";

/** Maximum number of changes listed; the rest is a count. */
const CHANGES_SHOWN = 30;

interface PlannedChangesProps {
  /** Kind of the edited records; other records show their kind. */
  readonly kind: EditedKind;
  readonly changes: readonly BulkChange[];
  /** Total number of changes. */
  readonly count: number;
  /** Whether the effects changed between preview and write. */
  readonly isReplanned: boolean;
  /** Summary above the changes. */
  readonly children: ComponentChildren;
}

export function PlannedChanges({ kind, changes, count, isReplanned, children }: PlannedChangesProps) {
  return (
    <div role="status">
      {isReplanned && <p class="note">Some records have changed in the meantime. The preview has been updated.</p>}
      {children}
      <ul class="bulk-changes">
        {changes.slice(0, CHANGES_SHOWN).map((change, index) => (
          <li key={change.id ?? index}>
            {change.entity_type !== kind && <>{kindWords(change.entity_type)[0]} </>}
            <bdi>{change.id === null ? change.name : shownName(change.id, change.name)}</bdi>:{" "}
            {change.operation === "Updated" ? <Updated fields={change.fields} /> : <CreatedOrDeleted change={change} />}
          </li>
        ))}
      </ul>
      {count > CHANGES_SHOWN && <p class="aside">And {groupedDigits(count - CHANGES_SHOWN)} more.</p>}
    </div>
  );
}

function Updated({ fields }: Pick<BulkChange, "fields">) {
  return (
    <>
      {fields
        .filter(({ field }) => !HIDDEN_FIELDS.has(field))
        .map(({ field, from, to }, index) => (
          <span key={field}>
            {index > 0 && "; "}
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

/** Kinds whose records are fully described by their name. */
const DESCRIBED_BY_NAME: ReadonlySet<string> = new Set(["binding"]);

/** Created record with its values, or deleted record. */
function CreatedOrDeleted({ change: { entity_type, operation, fields } }: { readonly change: BulkChange }) {
  if (operation === "Deleted") return <del>deleted</del>;
  const fieldsWithValue = fields.filter(
    ({ field, to }) => !HIDDEN_FIELDS.has(field) && to !== "" && !(Array.isArray(to) && to.length === 0),
  );
  return (
    <>
      <ins>new</ins>
      {!DESCRIBED_BY_NAME.has(entity_type) &&
        fieldsWithValue.map(({ field, to }, index) => (
          <span key={field}>
            {index > 0 ? "; " : ", "}
            {fieldTitle(field)} <Value field={field} value={to} at={null} />
          </span>
        ))}
    </>
  );
}
