// Port table by group, with state, speed, VLANs, and connected devices by name if known.

import { Copied } from "../components/copied.tsx";
import { HeadRow } from "../components/head-row.tsx";
import { NameLink } from "../components/name-link.tsx";
import { Paged } from "../components/paged.tsx";
import { speedOf } from "../components/speed.ts";
import { Status } from "../components/status.tsx";
import { When } from "../components/when.tsx";
import { ChangedCell } from "../history/changed-value.tsx";
import { ChangeSign, PreviousValue } from "../history/comparison.tsx";
import { Named } from "../names/named.tsx";
import { hrefOf } from "../url/location.ts";
import type { FaceplatePort } from "./host-data.ts";

/** More stations indicate a switch behind the port, so only their number is shown. */
const STATIONS_SHOWN = 3;

/** Port with its group on the device. */
export interface PortRow {
  readonly port: FaceplatePort;
  readonly group: string;
}

interface PortTableProps {
  readonly rows: readonly PortRow[];
  /** Id of the selected port; null for none. */
  readonly selectedId: string | null;
}

export function PortTable({ rows: allRows, selectedId }: PortTableProps) {
  return (
    <Paged rows={allRows} title="Interfaces" textOf={textOf} isSelected={({ port }) => port.id === selectedId}>
      {(rows) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
        <section class="table" tabIndex={0} aria-label="Interfaces">
          <table class="rows ports">
            <HeadRow heads={["Interface", "State", "Speed", "VLANs", "Connected"]} />
            {groupsOf(rows).map(({ group, ports }) => (
              <tbody key={group}>
                <tr>
                  <th class="row-group" scope="rowgroup" colSpan={5}>
                    {group}
                  </th>
                </tr>
                {ports.map((port) => (
                  <Row key={port.id} port={port} isSelected={port.id === selectedId} />
                ))}
              </tbody>
            ))}
          </table>
        </section>
      )}
    </Paged>
  );
}

function Row({ port, isSelected }: { readonly port: FaceplatePort; readonly isSelected: boolean }) {
  return (
    <tr id={`port-${port.id}`} class={isSelected ? "is-chosen" : undefined}>
      <th scope="row">
        <ChangeSign id={port.id} />
        <NameLink href={hrefOf(`/interfaces/${port.id}`)} name={port.name} />
        {port.if_alias !== null && (
          <>
            {" "}
            <bdi class="aside">{port.if_alias}</bdi>
          </>
        )}
        <PartOf port={port} />
      </th>
      <td>
        <PreviousValue id={port.id} field="oper_status" />
        <PreviousValue id={port.id} field="admin_status" />
        <PortState port={port} />
      </td>
      <ChangedCell id={port.id} field="speed_bps" value={port.speed_bps !== null && speedOf(port.speed_bps)} />
      <ChangedCell id={port.id} field="native_vlan_id" value={<PortVlans port={port} />} />
      <td>
        <ConnectedDevices port={port} />
      </td>
    </tr>
  );
}

/** The aggregate of a member, or the members of an aggregate. */
function PartOf({ port: { lag, members } }: { readonly port: FaceplatePort }) {
  if (lag === null && members.length === 0) return null;
  return (
    <span class="aside">
      {" "}
      {lag === null ? "members " : "in "}
      <PortNames ports={lag === null ? members : [lag]} />
    </span>
  );
}

/** Links to interfaces. */
export function PortNames({ ports }: { readonly ports: FaceplatePort["members"] }) {
  return ports.map(({ id, name }, index) => (
    <span key={id}>
      {index > 0 && ", "}
      <NameLink href={hrefOf(`/interfaces/${id}`)} name={name} />
    </span>
  ));
}

/** Groups consecutive ports; a group split across two pages appears on both. */
function groupsOf(rows: readonly PortRow[]): { readonly group: string; readonly ports: FaceplatePort[] }[] {
  const groups: { readonly group: string; readonly ports: FaceplatePort[] }[] = [];
  for (const { group, port } of rows) {
    const last = groups.at(-1);
    if (last?.group === group) last.ports.push(port);
    else groups.push({ group, ports: [port] });
  }
  return groups;
}

/** Searchable text of a port: names, state, VLAN, neighbor and stations. */
function textOf({ port }: PortRow): string {
  const { name, if_descr, if_alias, oper_status, native_vlan, neighbor, stations, lag, members } = port;
  return [
    name,
    lag?.name,
    ...members.map((member) => member.name),
    if_descr,
    if_alias,
    oper_status,
    ...(native_vlan === null ? [] : [`vlan ${native_vlan.number}`, native_vlan.name]),
    neighbor?.host?.name,
    neighbor?.announced_name,
    ...stations.flatMap(({ mac_address, vendor, hosts }) => [
      mac_address,
      vendor,
      ...hosts.flatMap((host) => [host.name, ...host.ip_addresses]),
    ]),
  ].join(" ");
}

function PortState({ port }: { readonly port: FaceplatePort }) {
  const { admin_status, oper_status, unused_since, known_since } = port;
  return (
    <>
      {admin_status === "Down" ? <span class="aside">disabled</span> : <Status status={oper_status} />}
      {unused_since !== null && (
        <span class="aside">
          {" "}
          {unused_since === known_since ? "down since at least" : "down since"} <When instant={unused_since} as="age" />
        </span>
      )}
    </>
  );
}

function PortVlans({ port: { native_vlan, tagged_vlans } }: { readonly port: FaceplatePort }) {
  return (
    <>
      {native_vlan !== null && (
        <a href={hrefOf(`/vlans/${native_vlan.id}`)}>
          {native_vlan.number} <bdi>{native_vlan.name}</bdi>
        </a>
      )}
      {tagged_vlans.length > 0 && (
        <span class="aside" title={tagged_vlans.map(({ number }) => number).join(", ")}>
          {" "}
          {tagged_vlans.length === 1 ? "+1 tagged" : `+${tagged_vlans.length} tagged`}
        </span>
      )}
    </>
  );
}

export function ConnectedDevices({ port: { neighbor, stations, fdb_entries } }: { readonly port: FaceplatePort }) {
  return (
    <>
      {neighbor !== null && (
        <span class="neighbor">
          {neighbor.host === null ? (
            <bdi>{neighbor.announced_name}</bdi>
          ) : (
            <NameLink href={hrefOf(`/hosts/${neighbor.host.id}`)} name={neighbor.host.name} />
          )}{" "}
          <bdi class="aside">{neighbor.interface?.name ?? neighbor.announced_port}</bdi>
        </span>
      )}
      {stations.slice(0, STATIONS_SHOWN).map(({ mac_address, vendor, hosts, since }) => (
        <span key={mac_address} class="station">
          {hosts.length === 0 ? (
            <>
              <Copied text={mac_address} /> <span class="aside">{vendor}</span>{" "}
            </>
          ) : (
            hosts.map(({ id, ip_addresses }) => (
              <span key={id} title={mac_address}>
                <Named kind="host" id={id} /> <span class="aside">{ip_addresses[0]}</span>{" "}
              </span>
            ))
          )}
          {since !== null && (
            <span class="aside">
              since <When instant={since} precision="minute" />
            </span>
          )}
        </span>
      ))}
      {fdb_entries > STATIONS_SHOWN && <span class="aside">{fdb_entries} MAC addresses</span>}
    </>
  );
}
