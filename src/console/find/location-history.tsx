// Location history: a visual strip, and an equivalent table with links to each timestamp.

import { useState } from "preact/hooks";
import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { Problem } from "../components/problem.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { When } from "../components/when.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { percent } from "../text/find.ts";
import { atMs, network } from "../time/at.ts";
import { now } from "../time/clock.ts";
import { formatDuration, formatUtc, urlTimestamp } from "../time/instant.ts";
import { hrefHere, parameter } from "../url/location.ts";
import { type LocateTerm, locateQuery } from "./locate-term.ts";
import {
  type Interval,
  isAtInstant,
  isCutOff,
  type LocationInterval,
  locationIntervalsOf,
  type Span,
  spanAround,
  UNPLACED,
} from "./location-intervals.ts";
import { VlanLink } from "./vlan-link.tsx";

const ROWS_SHOWN = 8;

/** @param isQuiet whether to show nothing if there is no data */
export function LocationHistory({ term, isQuiet }: { readonly term: LocateTerm; readonly isQuiet?: true }) {
  const isAll = parameter("span") === "all";
  const span = spanAround(atMs.value, now.value, isAll);
  const query = {
    ...locateQuery(term),
    ...span.query,
    ...(network.value === null ? {} : { network_id: network.value }),
  };
  const { data, problem, retry } = useResponse(read("/api/v1/locate/timeline", { query }));
  if (data === undefined) return problem === undefined ? null : <Problem problem={problem} retry={retry} />;
  if (data.intervals.length === 0 && isQuiet) return null;
  const locations = locationIntervalsOf(data.intervals, data.next_from === null ? span.to : Date.parse(data.next_from));
  return (
    <div class="places">
      <h2>Location history</h2>
      <a href={hrefHere({ span: isAll ? null : "all" })}>{isAll ? "30 days" : "Show all"}</a>
      {locations.length === 0 && <p class="aside">No data in these 30 days.</p>}
      {locations.length > 0 && (
        <>
          <Strip locations={locations} span={span} />
          <Rows locations={locations} span={span} />
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
function Strip({ locations, span }: { readonly locations: readonly LocationInterval[]; readonly span: Span }) {
  const from = span.from ?? locations[0]?.from ?? 0;
  const length = Math.max(1, span.to - from);
  const offset = (ms: number) => `${(100 * (Math.min(Math.max(ms, from), span.to) - from)) / length}%`;
  const instantMs = atMs.value;
  return (
    <div class="strip" aria-hidden="true">
      <div class="strip-pieces">
        {locations.map((location) =>
          location.interval === null ? null : (
            <a
              key={location.from}
              tabIndex={-1}
              class={`strip-piece ${toneClass(location)}`}
              href={hrefAtStart(location)}
              title={`${locationName(location.interval)}, ${formatDuration(location.to - location.from)}`}
              style={{
                insetInlineStart: offset(location.from),
                inlineSize: offset(from + location.to - location.from),
              }}
            >
              <span class="visually-hidden">{locationName(location.interval)}</span>
            </a>
          ),
        )}
        {instantMs !== null && instantMs >= from && instantMs <= span.to && (
          <span class="strip-instant" style={{ insetInlineStart: offset(instantMs) }} />
        )}
      </div>
      <div class="strip-ends aside">
        <When instant={formatUtc(from)} precision="minute" />
        <When instant={formatUtc(span.to)} precision="minute" />
      </div>
    </div>
  );
}

function Rows({ locations, span }: { readonly locations: readonly LocationInterval[]; readonly span: Span }) {
  const [isExpanded, setExpanded] = useState(false);
  const latest = locations.toReversed();
  // Includes the row of the shown timestamp.
  const current = latest.findIndex((location) => isAtInstant(location, atMs.value));
  const shown = isExpanded ? latest : latest.slice(0, Math.max(ROWS_SHOWN, current + 2));
  return (
    <>
      <RowsTable title="Location history" heads={["Since", "Until", "How long", "Where", "VLAN", "Confidence", "Who"]}>
        {shown.map((location) => (
          <LocationRow key={location.from} location={location} startsBefore={isCutOff(location, span)} />
        ))}
      </RowsTable>
      {shown.length < latest.length && (
        <button type="button" onClick={() => setExpanded(true)}>
          {latest.length - shown.length} earlier
        </button>
      )}
    </>
  );
}

/** @param startsBefore whether the location began before the requested range */
function LocationRow({
  location,
  startsBefore,
}: {
  readonly location: LocationInterval;
  readonly startsBefore: boolean;
}) {
  const { interval, from, to, isCurrent } = location;
  const atStart = urlTimestamp(from);
  return (
    <tr aria-current={isAtInstant(location, atMs.value) ? "true" : undefined}>
      <td>
        <span class={`swatch ${toneClass(location)}`} />
        {startsBefore && "before "}
        <a href={hrefAtStart(location)}>
          <When instant={formatUtc(from)} precision="minute" />
        </a>
      </td>
      <td>{isCurrent ? "now" : <When instant={formatUtc(to)} precision="minute" />}</td>
      <td>
        {startsBefore && "more than "}
        {formatDuration(to - from)}
      </td>
      {interval === null ? (
        <td colSpan={4} class="aside">
          no data
        </td>
      ) : (
        <>
          <td>
            <StayLocation interval={interval} atStart={atStart} />
          </td>
          <td>{interval.vlan !== null && <VlanLink vlan={interval.vlan} at={atStart} />}</td>
          <td>{percent(interval.confidence)}</td>
          <td>
            {interval.host !== null && <RecordLink type="host" {...interval.host} at={atStart} />}{" "}
            {interval.ip_address?.ip_address}
          </td>
        </>
      )}
    </tr>
  );
}

function StayLocation({ interval, atStart }: { readonly interval: Interval; readonly atStart: string }) {
  const { port } = interval;
  if (interval.switch === null) return <i class="aside">port not known</i>;
  return (
    <>
      {port === null ? "port not known" : <RecordLink type="if_entry" {...port} at={atStart} />} of{" "}
      <RecordLink type="host" {...interval.switch} at={atStart} />
    </>
  );
}

function toneClass({ tone }: LocationInterval): string {
  return tone === UNPLACED ? "tone-unplaced" : tone < 0 ? "" : `tone-${tone}`;
}

function locationName({ port, switch: device }: Interval): string {
  if (device === null) return "port not known";
  return `${port?.name ?? "port not known"} of ${device.name}`;
}

function hrefAtStart({ from }: LocationInterval): string {
  return hrefHere({ at: urlTimestamp(from) });
}
