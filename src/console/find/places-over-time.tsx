// Location history: a strip for eye and pointer, and an equivalent table with links to each instant.

import { useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { RecordLink } from "../names/record-link.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { When } from "../parts/when.tsx";
import { percent } from "../text/find.ts";
import { atMs, network } from "../time/at.ts";
import { now } from "../time/clock.ts";
import { addressInstant, formatDuration, formatUtc } from "../time/instant.ts";
import { hrefHere, parameter } from "../url/location.ts";
import { type Asked, locateQuery } from "./asked.ts";
import { type Interval, isAtInstant, isCutOff, type Span, type Stay, spanAround, staysOf, UNPLACED } from "./stays.ts";
import { VlanLink } from "./vlan-link.tsx";

const ROWS_SHOWN = 8;

interface PlacesProps {
  readonly asked: Asked;
  /** Whether to show nothing without data. */
  readonly isQuiet?: true;
}

export function PlacesOverTime({ asked, isQuiet }: PlacesProps) {
  const isAll = parameter("span") === "all";
  const span = spanAround(atMs.value, now.value, isAll);
  const query = {
    ...locateQuery(asked),
    ...span.query,
    ...(network.value === null ? {} : { network_id: network.value }),
  };
  const { data, problem, again } = useAnswer(read("/api/v1/locate/timeline", { query }));
  if (data === undefined) return problem === undefined ? null : <Problem problem={problem} again={again} />;
  if (data.intervals.length === 0 && isQuiet) return null;
  const stays = staysOf(data.intervals, data.next_from === null ? span.to : Date.parse(data.next_from));
  return (
    <div class="places">
      <h2>Location history</h2>
      <a href={hrefHere({ span: isAll ? null : "all" })}>{isAll ? "30 days" : "Show all"}</a>
      {stays.length === 0 && <p class="aside">No data in these 30 days.</p>}
      {stays.length > 0 && (
        <>
          <Strip stays={stays} span={span} />
          <Rows stays={stays} span={span} />
        </>
      )}
      {data.next_from !== null && (
        <p class="aside">
          Too many changes to show at once. Truncated at <When instant={data.next_from} />
        </p>
      )}
    </div>
  );
}

/** Visual form of the table below; hidden from assistive technology. */
function Strip({ stays, span }: { readonly stays: readonly Stay[]; readonly span: Span }) {
  const from = span.from ?? stays[0]?.from ?? 0;
  const length = Math.max(1, span.to - from);
  const place = (ms: number) => `${(100 * (Math.min(Math.max(ms, from), span.to) - from)) / length}%`;
  const marked = atMs.value;
  return (
    <div class="strip" aria-hidden="true">
      <div class="strip-pieces">
        {stays.map((stay) =>
          stay.interval === null ? null : (
            <a
              key={stay.from}
              tabIndex={-1}
              class={`strip-piece ${toneClass(stay)}`}
              href={hrefThen(stay)}
              title={`${placeName(stay.interval)}, ${formatDuration(stay.to - stay.from)}`}
              style={{ insetInlineStart: place(stay.from), inlineSize: place(from + stay.to - stay.from) }}
            >
              <span class="unseen">{placeName(stay.interval)}</span>
            </a>
          ),
        )}
        {marked !== null && marked >= from && marked <= span.to && (
          <span class="strip-instant" style={{ insetInlineStart: place(marked) }} />
        )}
      </div>
      <div class="strip-ends aside">
        <When instant={formatUtc(from)} precision="minute" />
        <When instant={formatUtc(span.to)} precision="minute" />
      </div>
    </div>
  );
}

function Rows({ stays, span }: { readonly stays: readonly Stay[]; readonly span: Span }) {
  const [isWhole, setWhole] = useState(false);
  const latest = stays.toReversed();
  // Includes the row of the shown instant.
  const current = latest.findIndex((stay) => isAtInstant(stay, atMs.value));
  const shown = isWhole ? latest : latest.slice(0, Math.max(ROWS_SHOWN, current + 2));
  return (
    <>
      <RowsTable title="Location history" heads={["Since", "Until", "How long", "Where", "VLAN", "Confidence", "Who"]}>
        {shown.map((stay) => (
          <StayRow key={stay.from} stay={stay} isCut={isCutOff(stay, span)} />
        ))}
      </RowsTable>
      {shown.length < latest.length && (
        <button type="button" onClick={() => setWhole(true)}>
          {latest.length - shown.length} earlier
        </button>
      )}
    </>
  );
}

/** @param isCut whether the stay began before the requested range */
function StayRow({ stay, isCut }: { readonly stay: Stay; readonly isCut: boolean }) {
  const { interval, from, to, holds } = stay;
  const then = addressInstant(from);
  return (
    <tr aria-current={isAtInstant(stay, atMs.value) ? "true" : undefined}>
      <td>
        <span class={`swatch ${toneClass(stay)}`} />
        {isCut && "before "}
        <a href={hrefThen(stay)}>
          <When instant={formatUtc(from)} precision="minute" />
        </a>
      </td>
      <td>{holds ? "now" : <When instant={formatUtc(to)} precision="minute" />}</td>
      <td>
        {isCut && "over "}
        {formatDuration(to - from)}
      </td>
      {interval === null ? (
        <td colSpan={4} class="aside">
          nothing known
        </td>
      ) : (
        <>
          <td>
            <Place interval={interval} then={then} />
          </td>
          <td>{interval.vlan !== null && <VlanLink vlan={interval.vlan} at={then} />}</td>
          <td>{percent(interval.confidence)}</td>
          <td>
            {interval.host !== null && <RecordLink type="host" {...interval.host} at={then} />}{" "}
            {interval.ip_address?.ip_address}
          </td>
        </>
      )}
    </tr>
  );
}

function Place({ interval, then }: { readonly interval: Interval; readonly then: string }) {
  const { port } = interval;
  if (interval.switch === null) return <i class="aside">port not known</i>;
  return (
    <>
      {port === null ? "port not known" : <RecordLink type="if_entry" {...port} at={then} />} of{" "}
      <RecordLink type="host" {...interval.switch} at={then} />
    </>
  );
}

function toneClass({ tone }: Stay): string {
  return tone === UNPLACED ? "tone-unplaced" : tone < 0 ? "" : `tone-${tone}`;
}

function placeName({ port, switch: device }: Interval): string {
  if (device === null) return "port not known";
  return `${port?.name ?? "port not known"} of ${device.name}`;
}

function hrefThen({ from }: Stay): string {
  return hrefHere({ at: addressInstant(from) });
}
