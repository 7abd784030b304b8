// The ports of a group, one in a row: state, speed, VLANs, and what is connected, by name where it is known.

import { Named } from "../names/named.tsx";
import { Copied } from "../parts/copied.tsx";
import { Status, speedOf } from "../parts/status.tsx";
import { When } from "../parts/when.tsx";
import { hostText } from "../text/hosts.ts";
import { hrefOf } from "../url/location.ts";
import type { FaceplatePort } from "./host-data.ts";

/** More of them are a switch behind the port: they are counted. */
const STATIONS_SHOWN = 3;

export function PortTable({ title, ports }: { readonly title: string; readonly ports: readonly FaceplatePort[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be focused
    <section class="table" tabIndex={0} aria-label={title}>
      <table class="rows ports">
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">{hostText.port}</th>
            <th scope="col">{hostText.state}</th>
            <th scope="col">{hostText.speed}</th>
            <th scope="col">{hostText.vlans}</th>
            <th scope="col">{hostText.connected}</th>
          </tr>
        </thead>
        <tbody>
          {ports.map((port) => (
            <tr key={port.id} id={`port-${port.id}`}>
              <th scope="row">
                <a href={hrefOf(`/interfaces/${port.id}`)}>
                  <bdi>{port.name}</bdi>
                </a>
                {port.if_alias !== null && (
                  <>
                    {" "}
                    <bdi class="aside">{port.if_alias}</bdi>
                  </>
                )}
              </th>
              <td>
                <PortState port={port} />
              </td>
              <td>{port.speed_bps !== null && speedOf(port.speed_bps)}</td>
              <td>
                <PortVlans port={port} />
              </td>
              <td>
                <Connected port={port} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function PortState({
  port: { admin_status, oper_status, unused_since, known_since },
}: {
  readonly port: FaceplatePort;
}) {
  return (
    <>
      {admin_status === "Down" ? <span class="aside">{hostText.adminDown}</span> : <Status status={oper_status} />}
      {unused_since !== null && (
        <span class="aside">
          {" "}
          {unused_since === known_since ? hostText.unusedAtLeast : hostText.unusedSince}{" "}
          <When instant={unused_since} as="age" />
        </span>
      )}
    </>
  );
}

export function PortVlans({ port: { native_vlan, tagged_vlans } }: { readonly port: FaceplatePort }) {
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
          {hostText.tagged(tagged_vlans.length)}
        </span>
      )}
    </>
  );
}

export function Connected({ port: { neighbor, stations, fdb_entries } }: { readonly port: FaceplatePort }) {
  return (
    <>
      {neighbor !== null && (
        <span class="neighbor">
          {neighbor.host === null ? (
            <bdi>{neighbor.announced_name}</bdi>
          ) : (
            <a href={hrefOf(`/hosts/${neighbor.host.id}`)}>
              <bdi>{neighbor.host.name}</bdi>
            </a>
          )}{" "}
          <bdi class="aside">{neighbor.interface?.name ?? neighbor.announced_port}</bdi>
        </span>
      )}
      {stations.slice(0, STATIONS_SHOWN).map(({ mac_address, vendor, hosts, since }) => (
        <span key={mac_address} class="station">
          {hosts.length === 0 ? (
            <>
              <Copied text={mac_address} /> <span class="aside">{vendor}</span>
            </>
          ) : (
            hosts.map(({ id, ip_addresses }) => (
              <span key={id} title={mac_address}>
                <Named kind="hosts" id={id} /> <span class="aside">{ip_addresses[0]}</span>{" "}
              </span>
            ))
          )}
          {since !== null && (
            <span class="aside">
              {hostText.since} <When instant={since} precision="minute" />
            </span>
          )}
        </span>
      ))}
      {fdb_entries > STATIONS_SHOWN && <span class="aside">{hostText.macs(fdb_entries)}</span>}
    </>
  );
}
