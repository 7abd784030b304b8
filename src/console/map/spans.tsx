// Change to a device or link between two timestamps, and its time spans within a period, in words.

import { When } from "../components/when.tsx";
import { formatUtc } from "../time/instant.ts";
import type { Presence } from "./diagram.ts";
import type { Period, PeriodSpan } from "./period.ts";

export function Spans({ period, id, presence }: Readonly<{ period: Period; id: string; presence: Presence }>) {
  const spans = period.spansById.get(id) ?? [];
  return (
    <ul class="map-spans">
      {presence !== "stayed" && (
        <li>
          <PresenceLabel presence={presence} />
        </li>
      )}
      {spans.map((span) => (
        <li key={span[0]}>
          <SpanText period={period} span={span} />
        </li>
      ))}
    </ul>
  );
}

function SpanText({ period, span: [from, to] }: { readonly period: Period; readonly span: PeriodSpan }) {
  const [isFromStart, isToEnd] = [from <= period.fromMs, to >= period.toMs];
  if (isFromStart && isToEnd) return <span class="aside">throughout</span>;
  return (
    <>
      {isToEnd && "since "}
      {!isFromStart && <When instant={formatUtc(from)} />}
      {!isFromStart && !isToEnd && " to "}
      {isFromStart && "until "}
      {!isToEnd && <When instant={formatUtc(to)} />}
    </>
  );
}

const PRESENCE = { stayed: "stayed", appeared: "appeared", vanished: "vanished", later: "appears later" };

export function PresenceLabel({ presence }: { readonly presence: Presence }) {
  const text = PRESENCE[presence];
  if (presence === "appeared") return <ins>{text}</ins>;
  return presence === "vanished" ? <del>{text}</del> : <span class="aside">{text}</span>;
}
