// Device faceplate: ports grouped by stack member and module, each linked to its row in the table below.

import { useContext, useEffect } from "preact/hooks";
import { type DataOf, read } from "../api/client.ts";
import { ResponseState } from "../components/response-state.tsx";
import { MatchingComparison, ShownComparison, useChangeOf, useRemoved } from "../history/comparison.tsx";
import { comparisonText } from "../text/compare.ts";
import { atQuery } from "../time/at.ts";
import { hrefHere, parameter } from "../url/location.ts";
import type { FaceplateData, FaceplatePort, FaceplateResponse, PortGroup } from "./host-data.ts";
import { type PortRow, PortTable } from "./port-table.tsx";

type IfEntry = DataOf<"/api/v1/if-entries/{id}">;

/** Smaller groups are a single row, as on a device. */
const TWO_ROWS_FROM = 13;
/** Larger groups are split into blocks of one device width. */
const BLOCK_PORTS = 48;

/** Reads the faceplate with its host. @param limit maximum number of interfaces; all if omitted */
export function faceplateOf(hostId: string, limit?: number) {
  const query = { ...(limit === undefined ? {} : { limit }), include: "host" as const, ...atQuery() };
  return read("/api/v1/hosts/{id}/faceplate", { path: { id: hostId }, query });
}

/** @param response of `faceplateOf` */
export function Faceplate({ response: { data, problem, retry, isEarlier } }: { readonly response: FaceplateResponse }) {
  const selectedId = parameter("port");
  const isLoaded = data !== undefined;
  useEffect(() => {
    const row = selectedId === null || !isLoaded ? null : document.getElementById(`port-${selectedId}`);
    row?.scrollIntoView({ block: "center" });
    row?.querySelector("a")?.focus({ preventScroll: true });
  }, [selectedId, isLoaded]);
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  const rows = rowsOf(data);
  if (rows.length === 0) return <p>No interfaces: no scan has read its interface table.</p>;
  return (
    <MatchingComparison isEarlier={isEarlier}>
      <ResponseState data={data} problem={problem} retry={retry} />
      <PortGroups groups={data.groups} selectedId={selectedId} />
      <PortTable rows={rows} selectedId={selectedId} />
    </MatchingComparison>
  );
}

interface PortGroupsProps {
  readonly groups: readonly PortGroup[];
  /** Id of the port whose row is shown; null for none. */
  readonly selectedId: string | null;
}

/** Ports in their physical layout, each linked to its row in the interface table. */
export function PortGroups({ groups, selectedId }: PortGroupsProps) {
  const isCompared = useContext(ShownComparison) !== null;
  return (
    <div class="plates">
      {groups.map((group) => (
        <PortGroupView key={groupKey(group)} group={group} selectedId={selectedId} />
      ))}
      <GonePorts />
      {groups.length > 0 && <p class="aside">Filled: up. Outlined: down. Crossed: disabled.</p>}
      {isCompared && <p class="aside">{comparisonText.legend}</p>}
    </div>
  );
}

function rowsOf({ groups, logical }: FaceplateData): PortRow[] {
  return [
    ...groups.flatMap((group) => group.ports.map((port) => ({ port, group: titleOf(group) }))),
    ...logical.map((port) => ({ port, group: "Logical interfaces" })),
  ];
}

const groupKey = ({ type, member, module }: PortGroup) => `${type} ${member} ${module}`;

function titleOf({ type, member, module }: PortGroup): string {
  if (type === "Management") return "Management";
  if (module !== null) return `Module ${module}`;
  return member === null ? "Ports" : `Member ${member}`;
}

function PortGroupView({ group, selectedId }: { readonly group: PortGroup; readonly selectedId: string | null }) {
  const isTwoRows = group.ports.length >= TWO_ROWS_FROM;
  return (
    <div class="plate">
      <h2>{titleOf(group)}</h2>
      {/* Odd ports above, even below, as numbered on a switch. */}
      {blocksOf(group.ports).map((ports) => (
        <ul key={ports[0]?.id} class={isTwoRows ? "two-rows" : ""}>
          {ports.map((port) => (
            <li key={port.id}>
              <PortCell port={port} isSelected={port.id === selectedId} />
            </li>
          ))}
        </ul>
      ))}
    </div>
  );
}

function PortCell({ port, isSelected }: { readonly port: FaceplatePort; readonly isSelected: boolean }) {
  const change = useChangeOf()(port.id);
  const summary = change === undefined ? summaryOf(port) : `${comparisonText.changes[change]}: ${summaryOf(port)}`;
  return (
    <a
      class={`port ${stateOf(port)} ${change === undefined ? "" : `port-${change}`} ${numberOf(port.name).length === DIGITS_MAX ? "is-long" : ""}`}
      href={hrefHere({ tab: "ports", port: port.id, find: null, page: null })}
      title={summary}
      aria-label={summary}
      aria-current={isSelected ? "true" : undefined}
    >
      {numberOf(port.name)}
    </a>
  );
}

/** Removed ports, shown separately, since their position is unknown. */
function GonePorts() {
  const removed = useRemoved<IfEntry>("if_entry");
  if (removed.length === 0) return null;
  return (
    <div class="plate">
      <h2>Gone since A</h2>
      <ul>
        {removed.map(({ id, if_name, if_descr }) => (
          <li key={id}>
            <span class="port port-removed" title={if_name || if_descr}>
              <span class="visually-hidden">{comparisonText.changes.removed}: </span>
              {numberOf(if_name || if_descr)}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function blocksOf(ports: readonly FaceplatePort[]): (readonly FaceplatePort[])[] {
  return Array.from({ length: Math.ceil(ports.length / BLOCK_PORTS) }, (_, index) =>
    ports.slice(index * BLOCK_PORTS, (index + 1) * BLOCK_PORTS),
  );
}

/** Digits that fit in a cell in smaller type; large devices number their logical ports in the thousands. */
const DIGITS_MAX = 4;

/** Printed number of the port: the last number in its name. */
export function numberOf(name: string): string {
  return (/(\d+)\D*$/.exec(name)?.[1] ?? name).slice(-DIGITS_MAX);
}

export function stateOf({ admin_status, oper_status }: FaceplatePort): "is-up" | "is-down" | "is-disabled" {
  if (admin_status === "Down") return "is-disabled";
  return oper_status === "Up" ? "is-up" : "is-down";
}

function summaryOf(port: FaceplatePort): string {
  const state = port.admin_status === "Down" ? "disabled" : port.oper_status;
  const names = port.stations.flatMap(({ hosts }) => hosts.map(({ name }) => name));
  const connected = port.neighbor?.host?.name ?? port.neighbor?.announced_name ?? names[0];
  const part = port.lag === null ? undefined : `in ${port.lag.name}`;
  return [port.name, part, state, connected]
    .filter((part) => part !== undefined && part !== null && part !== "")
    .join(", ");
}
