// Change of a device or link between two timestamps, and its time spans within a period, in words.

import { When } from "../parts/when.tsx";
import { formatUtc } from "../time/instant.ts";
import type { Presence } from "./diagram.ts";
import type { Period, PeriodSpan } from "./period.ts";

interface SpansProps {
  readonly period: Period;
  /** Device or link. */
  readonly id: string;
  readonly presence: Presence;
}

export function Spans({ period, id, presence }: SpansProps) {
  const spans = period.spansById.get(id) ?? [];
  return (
    <ul class="map-spans">
      {presence !== "stayed" && (
        <li>
          <Compared presence={presence} />
        </li>
      )}
      {spans.map((span) => (
        <li key={span[0]}>
          <SpanWords period={period} span={span} />
        </li>
      ))}
    </ul>
  );
}

function SpanWords({ period, span: [from, to] }: { readonly period: Period; readonly span: PeriodSpan }) {
  const [isFromStart, isToEnd] = [from <= period.fromMs, to >= period.toMs];
  if (isFromStart && isToEnd) return <span class="aside">throughout</span>;
  if (isToEnd)
    return (
      <>
        since <When instant={formatUtc(from)} />
      </>
    );
  if (isFromStart)
    return (
      <>
        until <When instant={formatUtc(to)} />
      </>
    );
  return (
    <>
      <When instant={formatUtc(from)} /> to <When instant={formatUtc(to)} />
    </>
  );
}

const PRESENCE = { stayed: "stayed", appeared: "appeared", vanished: "vanished", later: "still to come" };

export function Compared({ presence }: { readonly presence: Presence }) {
  const said = PRESENCE[presence];
  if (presence === "appeared") return <ins>{said}</ins>;
  return presence === "vanished" ? <del>{said}</del> : <span class="aside">{said}</span>;
}
