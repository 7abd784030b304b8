// What differs between two instants: what came, what went, what changed, field by field, old to new.

import type { DataOf } from "../api/client.ts";
import { recordPage } from "../names/record-page.ts";
import { changesText, kindText } from "../text/changes.ts";
import { fieldText } from "../text/lists.ts";
import { hrefOf } from "../url/location.ts";
import { Value } from "./value.tsx";

export type DiffData = DataOf<"/api/v1/diff">;
type Side = DiffData["added"][number] | DiffData["removed"][number];
type ChangedRecord = DiffData["changed"][number];

/** As many as one looks through; the page of differences shows all. */
const SHOWN_MAX = 200;

/** Fields that change with every version, and say nothing of their own. */
const SELF_EVIDENT = new Set(["updated_at", "valid_from", "valid_to", "last_seen_at", "last_discovery_id"]);

interface DifferenceProps {
  readonly diff: DiffData;
  /** What is said of those that are not shown: where they are. */
  readonly more?: (count: number) => string;
}

export function Difference({ diff, more = changesText.moreChanges }: DifferenceProps) {
  const { added, removed, changed, from, to } = diff;
  const total = added.length + removed.length + changed.length;
  if (total === 0) return <p class="aside">{changesText.nothing}</p>;
  const left = SHOWN_MAX - Math.min(SHOWN_MAX, changed.length);
  return (
    <ul class="difference">
      {changed.slice(0, SHOWN_MAX).map((record) => (
        <ChangedLine key={record.id} record={record} from={from.at} to={to.at} />
      ))}
      {added.slice(0, left).map((record) => (
        <SideLine key={record.id} record={record} sort="added" at={to.at} />
      ))}
      {removed.slice(0, left).map((record) => (
        <SideLine key={record.id} record={record} sort="removed" at={from.at} />
      ))}
      {total > SHOWN_MAX && <li class="aside">{more(total - SHOWN_MAX)}</li>}
    </ul>
  );
}

function SideLine({
  record: { entity_type, id, name },
  sort,
  at,
}: {
  readonly record: Side;
  readonly sort: "added" | "removed";
  readonly at: string;
}) {
  return (
    <li>
      <span class={`sign ${sort}`}>{changesText[sort]}</span> <Subject type={entity_type} id={id} name={name} at={at} />
    </li>
  );
}

function ChangedLine({
  record: { entity_type, id, name, fields },
  from,
  to,
}: {
  readonly record: ChangedRecord;
  readonly from: string;
  readonly to: string;
}) {
  const shown = fields.filter(({ field }) => !SELF_EVIDENT.has(field));
  return (
    <li>
      <span class="sign changed">{changesText.changed}</span> <Subject type={entity_type} id={id} name={name} at={to} />
      <dl class="fields">
        {shown.map(({ field, from: before, to: after }) => (
          <div key={field}>
            <dt>{fieldText[field] ?? field}</dt>
            <dd>
              <OldAndNew field={field} before={before} after={after} from={from} to={to} />
            </dd>
          </div>
        ))}
      </dl>
    </li>
  );
}

interface OldAndNewProps {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly from: string;
  readonly to: string;
}

/** Of two lists only what went and what came: a forwarding table has thousands of entries. */
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
  if (went.length + came.length === 0) return <>{changesText.otherOrder}</>;
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

/** Null for what is no list of texts; nothing is an empty one. */
function textsIn(value: unknown): readonly string[] | null {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : null;
}

interface SubjectProps {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly at: string;
}

/** A record by its name, with its kind, as a link to its page at that instant where it has one. */
function Subject({ type, id, name, at }: SubjectProps) {
  const page = recordPage(type, id);
  const shown = <bdi>{name || `…${id.slice(-8)}`}</bdi>;
  return (
    <>
      <span class="aside">{kindText[type]?.[0] ?? type}</span>{" "}
      {page === null ? shown : <a href={hrefOf(page, { at })}>{shown}</a>}
    </>
  );
}
