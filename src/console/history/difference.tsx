// Difference list between two timestamps: added and removed records, and changed fields with old and new value.

import { useContext, useState } from "preact/hooks";
import type { DiffData } from "../api/diff-data.ts";
import { ChangedSubject } from "../field-values/changed-subject.tsx";
import { FieldChanges } from "../field-values/field-changes.tsx";
import { capital } from "../kinds/kinds.ts";
import { changesText } from "../text/changes.ts";
import { type AddedOrRemoved, type ChangedRecord, linesOf, SELF_EVIDENT } from "./difference-lines.ts";
import { RecordChangeSlot } from "./record-change-slot.ts";

/** Lines shown per click on "Show more". */
const SHOWN_MAX = 200;

interface DifferenceProps {
  readonly diff: DiffData;
  /** Note on where to find the remaining lines. Without it, a button shows them here. */
  readonly more?: (count: number) => string;
  /** Called after a restore or its undo. Omitted if the comparison does not end now. */
  readonly onWritten?: (record: ChangedRecord) => void;
}

export function Difference({ diff, more, onWritten }: DifferenceProps) {
  const [shown, setShown] = useState(SHOWN_MAX);
  const { added, removed, changed, from, to } = diff;
  const total = added.length + removed.length + changed.length;
  if (total === 0) return <p class="aside">Nothing changed.</p>;
  const lines = linesOf(diff);
  return (
    <ul class="difference">
      {lines
        .slice(0, shown)
        .map((line) =>
          line.change === "changed" ? (
            <ChangedLine key={line.record.id} record={line.record} from={from.at} to={to.at} onWritten={onWritten} />
          ) : (
            <AddedOrRemovedLine key={line.record.id} {...line} at={line.change === "added" ? to.at : from.at} />
          ),
        )}
      {total > shown && more !== undefined && <li class="aside">{more(total - shown)}</li>}
      {total > shown && more === undefined && (
        <li>
          <button type="button" onClick={() => setShown(shown + SHOWN_MAX)}>
            {changesText.showMore(Math.min(SHOWN_MAX, total - shown), total - shown)}
          </button>
        </li>
      )}
    </ul>
  );
}

interface AddedOrRemovedLineProps {
  readonly record: AddedOrRemoved;
  readonly change: "added" | "removed";
  readonly at: string;
}

function AddedOrRemovedLine({ record: { entity_type, id, name, record }, change, at }: AddedOrRemovedLineProps) {
  const hostId = "host_id" in record ? record.host_id : null;
  return (
    <li>
      <span class={`sign ${change}`}>{capital(change)}</span>{" "}
      <ChangedSubject type={entity_type} id={id} name={name} at={at} hostId={hostId} />
    </li>
  );
}

interface ChangedLineProps {
  readonly record: ChangedRecord;
  readonly from: string;
  readonly to: string;
  readonly onWritten: ((record: ChangedRecord) => void) | undefined;
}

function ChangedLine({ record, from, to, onWritten }: ChangedLineProps) {
  const { entity_type, id, name, host_id, fields } = record;
  const renderSlot = useContext(RecordChangeSlot);
  const shown = fields.filter(({ field }) => !SELF_EVIDENT.has(field));
  return (
    <li>
      <span class={`sign ${fields.length === 0 ? "left" : "changed"}`}>{fields.length === 0 ? "Same" : "Changed"}</span>{" "}
      <ChangedSubject type={entity_type} id={id} name={name} at={to} hostId={host_id} />
      {fields.length === 0 && <span class="aside"> restored to its old value</span>}
      {shown.length > 0 && <FieldChanges changes={shown} from={from} to={to} />}
      {onWritten !== undefined && renderSlot?.(record, from, () => onWritten(record))}
    </li>
  );
}
