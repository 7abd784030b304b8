// Differences between two instants: additions, removals, and changed fields with old and new value.

import { useContext, useState } from "preact/hooks";
import type { DiffData } from "../api/diff-data.ts";
import { changesText } from "../text/changes.ts";
import { ChangedSubject } from "../values/changed-subject.tsx";
import { FieldChanges } from "../values/field-changes.tsx";
import { BesideChange } from "./beside-change.ts";
import { type ChangedRecord, linesOf, SELF_EVIDENT, type Side } from "./difference-lines.ts";

/** Lines shown before the rest is collapsed. */
const SHOWN_MAX = 200;

interface DifferenceProps {
  readonly diff: DiffData;
  /** Note that says where to find the remaining lines. Without it, a button shows them here. */
  readonly more?: (count: number) => string;
  /**
   * Called after a restore to the values at the start, or its undo. Omitted if the range does not end now: nothing can
   * be restored then.
   */
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
          line.sort === "changed" ? (
            <ChangedLine
              key={line.record.id}
              record={line.record}
              from={from.at}
              to={to.at}
              onWritten={onWritten && (() => onWritten(line.record))}
            />
          ) : (
            <SideLine
              key={line.record.id}
              record={line.record}
              sort={line.sort}
              at={line.sort === "added" ? to.at : from.at}
            />
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

function SideLine({
  record: { entity_type, id, name, record },
  sort,
  at,
}: {
  readonly record: Side;
  readonly sort: "added" | "removed";
  readonly at: string;
}) {
  return (
    <li>
      <span class={`sign ${sort}`}>{changesText[sort]}</span>{" "}
      <ChangedSubject
        type={entity_type}
        id={id}
        name={name}
        at={at}
        hostId={"host_id" in record ? record.host_id : null}
      />
    </li>
  );
}

function ChangedLine({
  record,
  from,
  to,
  onWritten,
}: {
  readonly record: ChangedRecord;
  readonly from: string;
  readonly to: string;
  readonly onWritten: (() => void) | undefined;
}) {
  const { entity_type, id, name, host_id, fields } = record;
  const beside = useContext(BesideChange);
  const shown = fields.filter(({ field }) => !SELF_EVIDENT.has(field));
  return (
    <li>
      <span class={`sign ${fields.length === 0 ? "left" : "changed"}`}>{fields.length === 0 ? "Same" : "Changed"}</span>{" "}
      <ChangedSubject type={entity_type} id={id} name={name} at={to} hostId={host_id} />
      {fields.length === 0 && <span class="aside"> back to its old value</span>}
      {shown.length > 0 && <FieldChanges changes={shown} from={from} to={to} />}
      {onWritten !== undefined && beside?.(record, from, onWritten)}
    </li>
  );
}
