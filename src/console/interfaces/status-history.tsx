// Status history of an interface: a chart, in which a click leads to the timestamp, and a table with links.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ResponseState } from "../components/response-state.tsx";
import { speedOf } from "../components/speed.ts";
import { nameOf } from "../names/names.ts";
import { ownValue } from "../text/own-value.ts";
import { at, atMs, atQuery } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { formatLocal, MONTH_MS, parseInstant, urlTimestamp } from "../time/instant.ts";
import { ticksOf } from "../time/ticks.ts";
import { instantAt, positionOf, type TimeWindow } from "../time/window.ts";
import { zone } from "../time/zone.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import {
  interfaceState,
  type Segment,
  type StatusVersion,
  segmentsOf,
  segmentsPath,
  stationsOf,
} from "./status-segments.ts";
import { StatusTable } from "./status-table.tsx";

type InterfaceVersion = DataOf<"/api/v1/if-entries/{id}/history">[number];

/** Limit, since the history of an interface that flaps every minute takes too long to send and read. */
const VERSIONS_MAX = 500;
const STATIONS_MAX = 12;
const TICKS = 6;

export function StatusHistory({ id, networkId }: { readonly id: string; readonly networkId: string }) {
  const request = read("/api/v1/if-entries/{id}/history", {
    path: { id },
    query: { ...atQuery(), limit: VERSIONS_MAX },
  });
  const { data, meta, problem, retry } = useResponse(request, { how: "refresh", id });
  const isAll = parameter("life") === "all";
  const history = useMemo(() => {
    if (data === undefined) return null;
    const versions = data.map(versionOf).reverse();
    const to = atMs.value ?? exactNow();
    const first = versions[0]?.ms ?? to;
    const isTruncated = meta?.pagination.has_more === true;
    const from = isAll || (isTruncated && first > to - MONTH_MS) ? Math.min(first, to - 1_000) : to - MONTH_MS;
    const window: TimeWindow = { from, to, bucketMs: to - from };
    return { versions, window, isTruncated: isTruncated && from === first, stations: stationsOf(versions, window) };
  }, [data, meta, isAll]);
  const hosts = useStationHosts(history?.stations.map(({ mac }) => mac) ?? [], networkId);
  if (history === null) return <ResponseState problem={problem} retry={retry} />;
  const { versions, window, isTruncated, stations } = history;
  return (
    <>
      <p class="aside life-span">
        <span>Period:</span>
        <PeriodLink title="30 days" value={null} isShown={!isAll} />
        <PeriodLink title="All" value="all" isShown={isAll} />
        <span>Tall: up. Low: down. Line: disabled. Blank: not present.</span>
        {isTruncated && <span>Showing the last {VERSIONS_MAX} versions. See the history for earlier ones.</span>}
      </p>
      <div class="life" role="img" aria-label="State, speed and stations over time, also listed in the table below.">
        <StateLane versions={versions} window={window} />
        <SpeedLane versions={versions} window={window} />
        {stations.slice(0, STATIONS_MAX).map(({ mac, segments }) => (
          <Lane key={mac} title={stationName(mac, hosts.get(mac))} window={window}>
            <path class="life-station" d={segmentsPath(segments, window, () => 0.8)} />
          </Lane>
        ))}
        <Scale window={window} />
      </div>
      {stations.length > STATIONS_MAX && (
        <p class="aside">
          {stations.length - STATIONS_MAX} more MAC addresses were connected in this period: see the table for times.
        </p>
      )}
      <StatusTable versions={versions} window={window} hosts={hosts} />
    </>
  );
}

/** Name of the host with the MAC address, if known. */
function stationName(mac: string, hostId: string | undefined): string {
  return (hostId !== undefined && nameOf("host", hostId, at.value)) || mac;
}

function PeriodLink({ title, value, isShown }: { title: string; value: string | null; isShown: boolean }) {
  return (
    <a href={hrefHere({ life: value })} aria-current={isShown ? "true" : undefined}>
      {title}
    </a>
  );
}

interface LanesProps {
  readonly versions: readonly StatusVersion[];
  readonly window: TimeWindow;
}

const HEIGHTS: Readonly<Record<string, number>> = { Up: 1, Down: 0.35, Disabled: 0.12 };

function StateLane({ versions, window }: LanesProps) {
  const segments = segmentsOf(versions, window, interfaceState);
  const segmentsIn = (...states: string[]) => segments.filter(({ value }) => states.includes(value));
  const others = segments.filter(({ value }) => !["Up", "Down", "Disabled", "Absent"].includes(value));
  const path = (subset: readonly Segment<string>[]) =>
    segmentsPath(subset, window, (value) => ownValue(HEIGHTS, value) ?? 0.65);
  return (
    <Lane title="State" window={window} isTall>
      <path class="life-up" d={path(segmentsIn("Up"))} />
      <path class="life-down" d={path(segmentsIn("Down"))} />
      <path class="life-disabled" d={path([...segmentsIn("Disabled"), ...others])} />
    </Lane>
  );
}

function SpeedLane({ versions, window }: LanesProps) {
  const segments = segmentsOf(versions, window, ({ isPresent, speedBps }) => (isPresent && speedBps ? speedBps : null));
  const knownSpeeds = segments.flatMap(({ value, ...times }) => (value === null ? [] : [{ ...times, value }]));
  if (knownSpeeds.length === 0) return null;
  const fastest = Math.max(...knownSpeeds.map(({ value }) => value));
  const speeds = [...new Set(knownSpeeds.map(({ value }) => value))].sort((a, b) => b - a).map(speedOf);
  // At a tenth of the highest speed, the height is lower by a third.
  const heightOf = (bps: number) => Math.max(0.1, 1 - Math.log10(fastest / bps) / 3);
  return (
    <Lane title={`Speed ${speeds.slice(0, 3).join(", ")}`} window={window}>
      <path class="life-speed" d={segmentsPath(knownSpeeds, window, heightOf)} />
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
    go(hrefHere({ at: urlTimestamp(instantAt((event.clientX - left) / width, window, width)) }));
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
          .filter(({ ms }) => positionOf(ms, window) < 0.93)
          .map(({ ms, label }) => (
            <span
              key={ms}
              title={formatLocal(ms, zone.value)}
              style={{ insetInlineStart: `${positionOf(ms, window) * 100}%` }}
            >
              {label}
            </span>
          ))}
      </span>
    </div>
  );
}

function versionOf({ operation, transaction, record }: InterfaceVersion): StatusVersion {
  return {
    ms: parseInstant(transaction.at) ?? 0,
    isPresent: operation !== "Deleted",
    adminStatus: record.admin_status,
    operStatus: record.oper_status,
    speedBps: record.speed_bps ?? null,
    macs: record.fdb_macs ?? [],
  };
}

/** Limit of MAC addresses per request; others are ignored. */
const QUERIED_MACS_MAX = 50;

/** Limit of rows per response: ten IP addresses for each MAC address. */
const ADDRESSES_MAX = 500;

/**
 * Host ids by the MAC addresses of their IP addresses, at the shown timestamp. @param networkId network of the hosts
 */
function useStationHosts(macs: readonly string[], networkId: string): ReadonlyMap<string, string> {
  const filter = macs
    .slice(0, QUERIED_MACS_MAX)
    .map((mac) => `mac_address = "${mac}"`)
    .join(" OR ");
  const query = { ...atQuery(), network_id: networkId, filter, limit: ADDRESSES_MAX };
  const { data } = useResponse(filter === "" ? null : read("/api/v1/ip-addresses", { query }));
  return new Map((data ?? []).map(({ mac_address, host_id }) => [mac_address ?? "", host_id]));
}
