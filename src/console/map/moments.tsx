// Changes of a period in chronological order, with a link to each timestamp.

import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { When } from "../parts/when.tsx";
import { groupedDigits } from "../text/digits.ts";
import { mapText } from "../text/map.ts";
import { atMs } from "../time/at.ts";
import { addressInstant, formatUtc } from "../time/instant.ts";
import { hrefHere } from "../url/location.ts";
import type { Diagram, DiagramLink, DiagramNode } from "./diagram.ts";
import { type Moment, type Period, withinPeriod } from "./period.ts";

interface MomentsProps {
  readonly period: Period;
  readonly diagram: Diagram;
  /** Only changes to these devices and their links; null for all. */
  readonly found: ReadonlySet<string> | null;
}

/** A button shows the rest. */
const ROWS_AT_FIRST = 100;
/** Limit per change: the first scan adds everything at once. */
const PARTS_MAX = 8;

export function Moments({ period, diagram, found }: MomentsProps) {
  const [isWhole, setWhole] = useState(false);
  const shownMs = withinPeriod(period, atMs.value);
  const moments = period.moments.filter((moment) => found === null || concerns(moment, diagram, found));
  // Latest change at or before the timestamp shown.
  const reached = moments.findLast(({ ms }) => ms <= shownMs);
  const seen = isWhole ? moments : around(moments, reached);
  if (moments.length === 0) return <p>Nothing came or went in this period.</p>;
  return (
    <>
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">{mapText.tables.changes}</th>
          </tr>
        </thead>
        <tbody>
          {seen.map((moment) => (
            <tr key={moment.ms} class={moment === reached ? "is-reached" : undefined}>
              <th scope="row">
                <a
                  href={hrefHere({ at: addressInstant(moment.ms) })}
                  aria-current={moment === reached ? "step" : undefined}
                >
                  <When instant={formatUtc(moment.ms)} />
                </a>
              </th>
              <td>
                <Parts diagram={diagram} ids={moment.appeared} is="appeared" />
                <Parts diagram={diagram} ids={moment.vanished} is="vanished" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {seen.length < moments.length && (
        <button type="button" onClick={() => setWhole(true)}>
          {mapText.showRows(moments.length)}
        </button>
      )}
    </>
  );
}

function concerns(moment: Moment, { linkById }: Diagram, found: ReadonlySet<string>): boolean {
  return [...moment.appeared, ...moment.vanished].some(
    (id) => found.has(id) || linkById.get(id)?.ends.some((end) => found.has(end.id)) === true,
  );
}

/** Rows before and after the current change. */
function around(moments: readonly Moment[], reached: Moment | undefined): readonly Moment[] {
  const place = reached === undefined ? 0 : moments.indexOf(reached);
  const start = Math.max(0, Math.min(place - ROWS_AT_FIRST / 2, moments.length - ROWS_AT_FIRST));
  return moments.slice(start, start + ROWS_AT_FIRST);
}

interface PartsProps {
  readonly diagram: Diagram;
  readonly ids: readonly string[];
  readonly is: "appeared" | "vanished";
}

function Parts({ diagram: { nodeById, linkById }, ids, is }: PartsProps) {
  if (ids.length === 0) return null;
  const Mark = is === "appeared" ? "ins" : "del";
  return (
    <ul class="map-changed">
      {ids.slice(0, PARTS_MAX).map((id) => (
        <li key={id}>
          <Mark>
            {is === "appeared" ? "+" : "−"} <Name node={nodeById.get(id)} link={linkById.get(id)} />
          </Mark>
        </li>
      ))}
      {ids.length > PARTS_MAX && (
        <li class="aside">
          {is === "appeared" ? "+" : "−"} and {groupedDigits(ids.length - PARTS_MAX)} more
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
