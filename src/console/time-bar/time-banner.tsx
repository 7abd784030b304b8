// Banner with the shown timestamp or both compared timestamps on every page, or the reason why one is invalid.

import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { isStaleLong } from "../api/stale.ts";
import { When } from "../components/when.tsx";
import { timeInputText, timeText } from "../text/time.ts";
import { at, atMs, hrefSwapped, vs, vsMs } from "../time/at.ts";
import { exactNow, now } from "../time/clock.ts";
import { canCompare, compared } from "../time/compared.ts";
import { formatAge, formatLocal, formatUtc, isAmbiguous, offsetAt, urlTimestamp } from "../time/instant.ts";
import { markerNameIn, markers } from "../time/markers.ts";
import { parseTimeInput } from "../time/parse-time-input.ts";
import { zone } from "../time/zone.ts";
import { hrefHere, hrefOf } from "../url/location.ts";
import { focusHandle } from "./focus.ts";

export function TimeBanner() {
  if (vs.value !== null) return <Comparison />;
  return (
    <span class="band-words">
      <span role="status">{at.value === null ? timeText.now : <Past />}</span>
      <PrintTimestamp />
      {at.value !== null && atMs.value !== null && atMs.value <= now.value && (
        <>
          <span class="age">{isStaleLong.value ? <Loading /> : formatAge(atMs.value, now.value)}</span>
          <HistoryStartNote ms={atMs.value} />
        </>
      )}
    </span>
  );
}

/** Printouts need the timestamp, in UTC as well for readers in other zones. */
function PrintTimestamp() {
  const ms = at.value === null ? now.value : atMs.value;
  if (ms === null) return null;
  return (
    <span class="on-paper">
      {at.value === null && `${formatLocal(ms, zone.value)} · `}
      {timeText.inUtc(formatUtc(ms))}
    </span>
  );
}

/** Shown while the content below does not match the banner yet. */
function Loading() {
  return <span role="status">loading…</span>;
}

function Past() {
  const text = at.value ?? "";
  const ms = atMs.value;
  if (ms === null) return <InvalidInstant name="at" text={text} />;
  if (ms > now.value) return <>That's in the future – showing now.</>;
  return (
    <>
      <span class="where-wide">As of </span>
      <Instant text={text} ms={ms} />
    </>
  );
}

function Comparison() {
  const endpoint = (name: "at" | "vs", text: string | null, ms: number | null) =>
    text === null ? (
      timeText.now
    ) : ms === null ? (
      <InvalidInstant name={name} text={text} />
    ) : (
      <Instant text={text} ms={ms} />
    );
  return (
    <span class="band-words">
      <span role="status">
        Comparing <b>A</b> {endpoint("vs", vs.value, vsMs.value)} with <b>B</b> {endpoint("at", at.value, atMs.value)}
        {compared.value?.isBackwards === true && <span class="aside"> (backwards: A is the later one)</span>}
      </span>
      {canCompare.value ? (
        <a href={hrefSwapped()}>Swap</a>
      ) : (
        <>
          <span>This page shows only B.</span> <a href={hrefOf("/compare", { vs: vs.value })}>Show differences</a>
        </>
      )}
      <a href={hrefHere({ vs: null })} onClick={focusHandle}>
        End comparison
      </a>
    </span>
  );
}

const quotedMarker = (name: string) => `marker “${name}”`;

function Instant({ text, ms }: { readonly text: string; readonly ms: number }) {
  const name = markerNameIn(text);
  return (
    <>
      {name !== null && (
        <>
          <bdi>{quotedMarker(markers.value?.find(({ id }) => id === name)?.name ?? name)}</bdi>,{" "}
        </>
      )}
      <When instant={formatUtc(ms)} precision={ms % 1_000 === 0 ? "second" : "millisecond"} />
      {isAmbiguous(ms, zone.value) && ` (${timeText.utcOffset(offsetAt(ms, zone.value))})`}
    </>
  );
}

/** Invalid timestamp in the URL: the reason, and possible interpretations. */
function InvalidInstant({ name, text }: { readonly name: "at" | "vs"; readonly text: string }) {
  const marker = markerNameIn(text);
  if (marker !== null)
    return markers.value === undefined ? (
      <bdi>{quotedMarker(marker)}</bdi>
    ) : (
      <span>{timeText.noSuchMarker(marker)}</span>
    );
  const parsed = parseTimeInput(text, { nowMs: exactNow(), timeZone: zone.value });
  const choices = parsed.type === "repeated" ? parsed.instants : parsed.type === "skipped" ? [parsed.substitute] : [];
  return (
    <>
      {choices.length === 0
        ? `Can't read “${text}” as a date or time. Try 2026-03-01 03:12, yesterday 14:00, or -24h.`
        : `${text}: ${parsed.type === "repeated" ? timeInputText.repeated : timeInputText.skipped}`}
      {choices.map((ms) => (
        <a key={ms} class="band-choice" href={hrefHere({ [name]: urlTimestamp(ms) })} onClick={focusHandle}>
          {timeInputText.which(formatLocal(ms, zone.value), formatUtc(ms).slice(11, 19))}
        </a>
      ))}
    </>
  );
}

const FIRST_TRANSACTION = read("/api/v1/transactions", { query: { limit: 1, order_direction: "asc" } });

/** Note for a timestamp before the first accessible record. */
function HistoryStartNote({ ms }: { readonly ms: number }) {
  const { data } = useResponse(FIRST_TRANSACTION);
  const first = data === undefined ? undefined : data[0]?.at;
  if (data === undefined || (first !== undefined && ms >= Date.parse(first))) return null;
  if (first === undefined) return <span role="status">No data yet.</span>;
  return (
    <span role="status">
      No data yet at that time. History starts{" "}
      <a href={hrefHere({ at: urlTimestamp(Date.parse(first)) })} onClick={focusHandle}>
        <When instant={first} />
      </a>
      .
    </span>
  );
}
