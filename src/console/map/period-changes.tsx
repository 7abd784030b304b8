// Changes of a period in chronological order, with a link to each timestamp.

import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { ActionButton } from "../components/buttons.tsx";
import { HeadRow } from "../components/head-row.tsx";
import { When } from "../components/when.tsx";
import { groupedDigits } from "../text/digits.ts";
import { mapText } from "../text/map.ts";
import { atMs } from "../time/at.ts";
import { formatUtc, urlTimestamp } from "../time/instant.ts";
import { hrefHere } from "../url/location.ts";
import type { Diagram, DiagramLink, DiagramNode } from "./diagram.ts";
import { type Moment, type Period, withinPeriod } from "./period.ts";

interface PeriodChangesProps {
  readonly period: Period;
  readonly diagram: Diagram;
  /** Only changes to these devices and their links; null for all. */
  readonly found: ReadonlySet<string> | null;
}

/** A button shows the rest. */
const ROWS_INITIAL = 100;
/** Limit per change: the first scan adds everything at once. */
const PARTS_MAX = 8;

export function PeriodChanges({ period, diagram, found }: PeriodChangesProps) {
  const [isExpanded, setExpanded] = useState(false);
  const shownMs = withinPeriod(period, atMs.value);
  const moments = period.moments.filter((moment) => found === null || affects(moment, diagram, found));
  // Latest change at or before the timestamp shown.
  const currentMoment = moments.findLast(({ ms }) => ms <= shownMs);
  const visible = isExpanded ? moments : rowsAround(moments, currentMoment);
  if (moments.length === 0) return <p>No changes in this period.</p>;
  return (
    <>
      <table class="rows">
        <HeadRow heads={["When", mapText.tables.changes]} />
        <tbody>
          {visible.map((moment) => (
            <tr key={moment.ms} class={moment === currentMoment ? "is-reached" : undefined}>
              <th scope="row">
                <a
                  href={hrefHere({ at: urlTimestamp(moment.ms) })}
                  aria-current={moment === currentMoment ? "step" : undefined}
                >
                  <When instant={formatUtc(moment.ms)} />
                </a>
              </th>
              <td>
                <ChangedItems diagram={diagram} ids={moment.appeared} change="appeared" />
                <ChangedItems diagram={diagram} ids={moment.vanished} change="vanished" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {visible.length < moments.length && (
        <ActionButton label={mapText.showRows(moments.length)} onClick={() => setExpanded(true)} />
      )}
    </>
  );
}

function affects(moment: Moment, { linkById }: Diagram, found: ReadonlySet<string>): boolean {
  return [...moment.appeared, ...moment.vanished].some(
    (id) => found.has(id) || linkById.get(id)?.ends.some((end) => found.has(end.id)) === true,
  );
}

/** Rows before and after the current change. */
function rowsAround(moments: readonly Moment[], currentMoment: Moment | undefined): readonly Moment[] {
  const index = currentMoment === undefined ? 0 : moments.indexOf(currentMoment);
  const start = Math.max(0, Math.min(index - ROWS_INITIAL / 2, moments.length - ROWS_INITIAL));
  return moments.slice(start, start + ROWS_INITIAL);
}

interface ChangedItemsProps {
  readonly diagram: Diagram;
  readonly ids: readonly string[];
  readonly change: "appeared" | "vanished";
}

function ChangedItems({ diagram: { nodeById, linkById }, ids, change }: ChangedItemsProps) {
  if (ids.length === 0) return null;
  const Mark = change === "appeared" ? "ins" : "del";
  return (
    <ul class="map-changed">
      {ids.slice(0, PARTS_MAX).map((id) => (
        <li key={id}>
          <Mark>
            {change === "appeared" ? "+" : "−"} <Name node={nodeById.get(id)} link={linkById.get(id)} />
          </Mark>
        </li>
      ))}
      {ids.length > PARTS_MAX && (
        <li class="aside">
          {change === "appeared" ? "+" : "−"} and {groupedDigits(ids.length - PARTS_MAX)} more
        </li>
      )}
    </ul>
  );
}

/** A device by its name, or a link by both ends. */
function Name({ node, link }: { readonly node: DiagramNode | undefined; readonly link: DiagramLink | undefined }) {
  if (node !== undefined) return <bdi>{node.label}</bdi>;
  return (link?.ends ?? []).map(({ id, label }, index) => (
    <Fragment key={`${index} ${id}`}>
      {index > 0 && " – "}
      <bdi>{label}</bdi> <bdi>{link?.link.ends[index]?.port ?? mapText.unknownPort}</bdi>
    </Fragment>
  ));
}
