// What differs between two instants: what came, what went, what changed, field by field, old to new.

import { useContext, useState } from "preact/hooks";
import type { DiffData } from "../api/diff-data.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { Named } from "../names/named.tsx";
import { anyRecordPage } from "../names/record-page.ts";
import { changesText, kindText } from "../text/changes.ts";
import { subject } from "../time/subject.ts";
import { hrefOf } from "../url/location.ts";
import { BesideChange } from "./beside-change.ts";
import { type ChangedRecord, linesOf, SELF_EVIDENT, type Side } from "./difference-lines.ts";
import { Value } from "./value.tsx";

/** As many as one looks through at a time. */
const SHOWN_MAX = 200;

interface DifferenceProps {
  readonly diff: DiffData;
  /** What is said of those that are not shown: where they are. Left out, a button shows them here. */
  readonly more?: (count: number) => string;
  /** Whether it ends now: fields can be brought back as they were at its beginning. */
  readonly isToNow?: boolean;
}

export function Difference({ diff, more, isToNow = false }: DifferenceProps) {
  const [shown, setShown] = useState(SHOWN_MAX);
  const { added, removed, changed, from, to } = diff;
  const total = added.length + removed.length + changed.length;
  if (total === 0) return <p class="aside">{changesText.nothing}</p>;
  const lines = linesOf(diff);
  return (
    <ul class="difference">
      {lines
        .slice(0, shown)
        .map((line) =>
          line.sort === "changed" ? (
            <ChangedLine key={line.record.id} record={line.record} from={from.at} to={to.at} isToNow={isToNow} />
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
      <Subject type={entity_type} id={id} name={name} at={at} hostId={"host_id" in record ? record.host_id : null} />
    </li>
  );
}

function ChangedLine({
  record,
  from,
  to,
  isToNow,
}: {
  readonly record: ChangedRecord;
  readonly from: string;
  readonly to: string;
  readonly isToNow: boolean;
}) {
  const { entity_type, id, name, host_id, fields } = record;
  const beside = useContext(BesideChange);
  const shown = fields.filter(({ field }) => !SELF_EVIDENT.has(field));
  return (
    <li>
      <span class="sign changed">{changesText.changed}</span>{" "}
      <Subject type={entity_type} id={id} name={name} at={to} hostId={host_id} />
      <dl class="fields">
        {shown.map(({ field, from: before, to: after }) => (
          <div key={field}>
            <dt>{fieldTitle(field)}</dt>
            <dd>
              <OldAndNew field={field} before={before} after={after} from={from} to={to} />
            </dd>
          </div>
        ))}
      </dl>
      {isToNow && beside?.(record, from)}
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
  /** Of a part of a host: its name alone does not say which it is. */
  readonly hostId: string | null;
}

/** A record by its name, with its kind, as a link to its page at that instant where it has one. */
function Subject({ type, id, name, at, hostId }: SubjectProps) {
  const page = anyRecordPage(type, id);
  // On the page of a host it is the host's.
  const isSaid = hostId === null || hostId === subject.value.host_id;
  const shown = <bdi>{name || `…${id.slice(-8)}`}</bdi>;
  return (
    <>
      <span class="aside">{kindText[type]?.[0] ?? type}</span>{" "}
      {page === null ? shown : <a href={hrefOf(page, { at })}>{shown}</a>}
      {!isSaid && (
        <>
          {" "}
          {changesText.of} <Named kind="hosts" id={hostId} as={at} />
        </>
      )}
    </>
  );
}
