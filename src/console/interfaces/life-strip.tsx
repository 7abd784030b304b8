// Status history of an interface as a strip: operational status, speed, attached stations; and an equivalent table.
// Clicks lead to the instant; the table has links.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { nameOf } from "../names/names.ts";
import { Problem } from "../parts/problem.tsx";
import { speedOf } from "../parts/speed.ts";
import { Waiting } from "../parts/waiting.tsx";
import { ownValue } from "../text/own-value.ts";
import { at, atMs, atQuery } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { addressInstant, formatLocal, parseInstant } from "../time/instant.ts";
import { ticksOf } from "../time/ticks.ts";
import { instantAt, placeOf, type TimeWindow } from "../time/window.ts";
import { zone } from "../time/zone.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { type LifeVersion, lifeStateOf, type Piece, piecesOf, piecesPath, stationsOf } from "./life.ts";
import { LifeTable } from "./life-table.tsx";

type InterfaceVersion = DataOf<"/api/v1/if-entries/{id}/history">[number];

/** Limit: the history of an interface that flaps every minute takes too long to send and read. */
const VERSIONS_MAX = 500;
const STATIONS_MAX = 12;
const MONTH_MS = 30 * 86_400_000;
const TICKS = 6;

export function LifeStrip({ id, networkId }: { readonly id: string; readonly networkId: string }) {
  const asked = read("/api/v1/if-entries/{id}/history", { path: { id }, query: { ...atQuery(), limit: VERSIONS_MAX } });
  const { data, meta, problem, again } = useAnswer(asked, { how: "refresh", id });
  const isAll = parameter("life") === "all";
  const life = useMemo(() => {
    if (data === undefined) return null;
    const versions = data.map(versionOf).reverse();
    const to = atMs.value ?? exactNow();
    const first = versions[0]?.ms ?? to;
    const isCut = meta?.pagination.has_more === true;
    const from = isAll || (isCut && first > to - MONTH_MS) ? Math.min(first, to - 1_000) : to - MONTH_MS;
    const window: TimeWindow = { from, to, bucketMs: to - from };
    return { versions, window, isCut: isCut && from === first, stations: stationsOf(versions, window) };
  }, [data, meta, isAll]);
  const hosts = useStationHosts(life?.stations.map(({ mac }) => mac) ?? [], networkId);
  if (problem !== undefined && data === undefined) return <Problem problem={problem} again={again} />;
  if (life === null) return <Waiting />;
  const { versions, window, isCut, stations } = life;
  return (
    <>
      <p class="aside life-span">
        <span>How much of it:</span>
        <Span title="30 days" value={null} isShown={!isAll} />
        <Span title="All" value="all" isShown={isAll} />
        <span>Tall: up. Low: down. Line: disabled. Blank: not present.</span>
        {isCut && <span>Showing the last {VERSIONS_MAX} versions. Earlier ones are in its history.</span>}
      </p>
      <div class="life" role="img" aria-label="State, speed and stations over time. The table below says the same.">
        <StateLane versions={versions} window={window} />
        <SpeedLane versions={versions} window={window} />
        {stations.slice(0, STATIONS_MAX).map(({ mac, pieces }) => (
          <Lane key={mac} title={stationName(mac, hosts.get(mac))} window={window}>
            <path class="life-station" d={piecesPath(pieces, window, () => 0.8)} />
          </Lane>
        ))}
        <Scale window={window} />
      </div>
      {stations.length > STATIONS_MAX && (
        <p class="aside">
          {stations.length - STATIONS_MAX} more MAC addresses hung on it in this time: the table has when each came.
        </p>
      )}
      <LifeTable versions={versions} window={window} hosts={hosts} />
    </>
  );
}

/** Name of the host with the MAC address, if known. */
function stationName(mac: string, hostId: string | undefined): string {
  return (hostId !== undefined && nameOf("host", hostId, at.value)) || mac;
}

function Span({ title, value, isShown }: { title: string; value: string | null; isShown: boolean }) {
  return (
    <a href={hrefHere({ life: value })} aria-current={isShown ? "true" : undefined}>
      {title}
    </a>
  );
}

interface LanesProps {
  readonly versions: readonly LifeVersion[];
  readonly window: TimeWindow;
}

const HEIGHTS: Readonly<Record<string, number>> = { Up: 1, Down: 0.35, Disabled: 0.12 };

function StateLane({ versions, window }: LanesProps) {
  const pieces = piecesOf(versions, window, lifeStateOf);
  const of = (...states: string[]) => pieces.filter(({ value }) => states.includes(value));
  const others = pieces.filter(({ value }) => !["Up", "Down", "Disabled", "Absent"].includes(value));
  const path = (some: readonly Piece<string>[]) =>
    piecesPath(some, window, (value) => ownValue(HEIGHTS, value) ?? 0.65);
  return (
    <Lane title="State" window={window} isTall>
      <path class="life-up" d={path(of("Up"))} />
      <path class="life-down" d={path(of("Down"))} />
      <path class="life-disabled" d={path([...of("Disabled"), ...others])} />
    </Lane>
  );
}

function SpeedLane({ versions, window }: LanesProps) {
  const pieces = piecesOf(versions, window, ({ isThere, speedBps }) => (isThere && speedBps ? speedBps : null));
  const known = pieces.flatMap(({ value, ...times }) => (value === null ? [] : [{ ...times, value }]));
  if (known.length === 0) return null;
  const most = Math.max(...known.map(({ value }) => value));
  const speeds = [...new Set(known.map(({ value }) => value))].sort((a, b) => b - a).map(speedOf);
  // A tenth of the speed lowers the height by a third.
  const heightOf = (bps: number) => Math.max(0.1, 1 - Math.log10(most / bps) / 3);
  return (
    <Lane title={`Speed ${speeds.slice(0, 3).join(", ")}`} window={window}>
      <path class="life-speed" d={piecesPath(known, window, heightOf)} />
    </Lane>
  );
}

interface LaneProps {
  readonly title: string;
  readonly window: TimeWindow;
  readonly isTall?: true;
  readonly children: ComponentChildren;
}

function Lane({ title, window, isTall, children }: LaneProps) {
  const show = (event: MouseEvent & { currentTarget: SVGSVGElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    go(hrefHere({ at: addressInstant(instantAt((event.clientX - left) / width, window, width)) }));
  };
  return (
    <div class={isTall ? "lane is-tall" : "lane"} aria-hidden="true">
      <span class="lane-title">{title}</span>
      <svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true" onClick={show}>
        {children}
      </svg>
    </div>
  );
}

function Scale({ window }: { readonly window: TimeWindow }) {
  return (
    <div class="lane" aria-hidden="true">
      <span class="lane-title" />
      <span class="lane-scale">
        {ticksOf(window, zone.value, TICKS)
          .filter(({ ms }) => placeOf(ms, window) < 0.93)
          .map(({ ms, label }) => (
            <span
              key={ms}
              title={formatLocal(ms, zone.value)}
              style={{ insetInlineStart: `${placeOf(ms, window) * 100}%` }}
            >
              {label}
            </span>
          ))}
      </span>
    </div>
  );
}

function versionOf({ operation, transaction, record }: InterfaceVersion): LifeVersion {
  return {
    ms: parseInstant(transaction.at) ?? 0,
    isThere: operation !== "Deleted",
    adminStatus: record.admin_status,
    operStatus: record.oper_status,
    speedBps: record.speed_bps ?? null,
    macs: record.fdb_macs ?? [],
  };
}

/** MAC addresses per request; further ones are ignored. */
const ASKED_MAX = 50;

/** Most rows of an answer: ten addresses for each MAC address. */
const ADDRESSES_MAX = 500;

/**
 * Host ids by the MAC addresses of their IP addresses, at the shown instant.
 * @param networkId network of the hosts
 */
function useStationHosts(macs: readonly string[], networkId: string): ReadonlyMap<string, string> {
  const filter = macs
    .slice(0, ASKED_MAX)
    .map((mac) => `mac_address = "${mac}"`)
    .join(" OR ");
  const query = { ...atQuery(), network_id: networkId, filter, limit: ADDRESSES_MAX };
  const { data } = useAnswer(filter === "" ? null : read("/api/v1/ip-addresses", { query }));
  return new Map((data ?? []).map(({ mac_address, host_id }) => [mac_address ?? "", host_id]));
}
