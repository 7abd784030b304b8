// Neighbors of a host: the devices at the other end of its links with evidence, stations on its other ports, and its
// own location on other switches.

import { type Answer, useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Named } from "../names/named.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { speedOf } from "../parts/speed.ts";
import { Status } from "../parts/status.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { ownValue } from "../text/own-value.ts";
import { atMs, atQuery } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { formatUtc } from "../time/instant.ts";
import { hrefOf } from "../url/location.ts";
import type { FaceplateData, HostData, HostLink, LinkEvidence, LinkedNode } from "./host-data.ts";
import { HostPlaces } from "./host-places.tsx";
import { HostStations } from "./host-stations.tsx";
import { heardOf, type LinkSince, type NeighborLink, neighborLinks, sinceByLink } from "./neighbors.ts";

const MONTH_MS = 30 * 86_400_000;
const EVERY_MS = 5_000;

/** Reads the links. */
export function linksOf(hostId: string) {
  return read("/api/v1/topology", { query: { ...atQuery(), host_id: hostId } });
}

interface HostNeighborsProps {
  readonly host: HostData;
  /** Faceplate of the host. */
  readonly plate: Answer<FaceplateData>;
}

export function HostNeighbors({ host, plate }: HostNeighborsProps) {
  return (
    <div class="stack">
      <section>
        <h2>Connected devices</h2>
        <Links id={host.id} />
      </section>
      <section>
        <h2>On its other ports</h2>
        <HostStations answer={plate} />
      </section>
      <section>
        <h2>Where it is connected</h2>
        <HostPlaces host={host} />
      </section>
    </div>
  );
}

function Links({ id }: { readonly id: string }) {
  const { data, problem, again } = useAnswer(linksOf(id), { how: "refresh", host_id: id, everyMs: EVERY_MS });
  const since = useSince(data === undefined ? null : id);
  if (data === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  const links = neighborLinks(id, data.links);
  if (links.length === 0) return <p class="aside">No links known: none announced by LLDP or CDP, and none entered.</p>;
  const nodes = new Map(data.nodes.map((node) => [node.id, node]));
  return (
    <RowsTable
      title="Connected devices"
      kind="neighbors"
      heads={["Its port", "Neighbor", "Port there", "State", "Since", "Source"]}
    >
      {links.map((each) => (
        <LinkRow key={each.link.id} {...each} nodes={nodes} since={since?.get(each.link.id)} />
      ))}
    </RowsTable>
  );
}

/** Start times within the last 30 days, in a separate request, since it takes longer. Null while unknown. */
function useSince(id: string | null): ReadonlyMap<string, LinkSince> | null {
  // Rounded to the minute, so that a rerender does not change the request.
  const toMs = atMs.value ?? Math.floor(exactNow() / 60_000) * 60_000;
  const fromMs = toMs - MONTH_MS;
  const period = { from: formatUtc(fromMs), ...(atMs.value === null ? {} : { to: formatUtc(toMs + 1) }) };
  const { data, isEarlier } = useAnswer(
    id === null ? null : read("/api/v1/topology", { query: { host_id: id, ...period } }),
  );
  if (data === undefined || isEarlier || data.truncated === true) return null;
  return sinceByLink(data.links, fromMs);
}

interface LinkRowProps extends NeighborLink<HostLink, HostLink["ends"][number]> {
  readonly nodes: ReadonlyMap<string, LinkedNode>;
  readonly since: LinkSince | undefined;
}

const CERTAINTIES = {
  Interfaces: "Both devices and both of their ports are known.",
  Hosts: "Both devices are known, but not both of their ports for certain.",
  Announced: "The far device announces itself, and is not in the inventory.",
  Beyond: "It was heard through switches that pass this on, so it need not be at the other end of the cable.",
};

const PROTOCOLS = { Lldp: "LLDP", Cdp: "CDP", Entered: "entered" };

function LinkRow({ link, near, far, nodes, since }: LinkRowProps) {
  const node = nodes.get(far.node_id);
  return (
    <tr>
      <th scope="row">
        <PortName end={near} />
      </th>
      <td>{node === undefined ? null : <Device node={node} />}</td>
      <td>
        <PortName end={far} />
      </td>
      <td>
        {near.oper_status !== null && <Status status={near.oper_status} />}{" "}
        {near.speed_bps !== null && near.speed_bps > 0 && speedOf(near.speed_bps)}
      </td>
      <td>
        {since !== undefined && (
          <>
            {since.isOrEarlier && "before "}
            <When instant={since.instant} precision="minute" />
          </>
        )}
      </td>
      <td>
        <details class="reasons">
          <summary>{PROTOCOLS[link.protocol]}</summary>
          <p>{CERTAINTIES[link.certainty]}</p>
          {link.is_shared && (
            <p>More than one device announces itself here: a hub, or a phone with a computer behind it.</p>
          )}
          <ul>
            {link.evidence.map((each) => (
              <li key={`${each.if_entry_id} ${each.protocol}`}>
                <Heard evidence={each} node={nodes.get(each.node_id)} />
              </li>
            ))}
            {link.evidence.length === 0 && <li>Entered by a person.</li>}
          </ul>
        </details>
      </td>
    </tr>
  );
}

function PortName({ end: { if_entry, port } }: { readonly end: HostLink["ends"][number] }) {
  if (if_entry !== null) return <RecordLink type="if_entry" id={if_entry.id} name={if_entry.name} />;
  return port === null ? <span class="aside">not known</span> : <bdi>{port}</bdi>;
}

function Device({ node: { id, kind, name, chassis_id, management_address } }: { readonly node: LinkedNode }) {
  const shown = <bdi>{name || chassis_id || management_address || "a device without a name"}</bdi>;
  if (kind === "Known") return <a href={hrefOf(`/hosts/${id}?tab=neighbors`)}>{shown}</a>;
  return (
    <>
      {shown} <span class="label">not in the inventory</span>
    </>
  );
}

const FIELDS: Readonly<Record<string, string>> = {
  sys_name: "system name",
  device_id: "device ID",
  chassis_id: "chassis ID",
  port_id: "port ID",
  port_desc: "port description",
  platform: "platform",
  mgmt_addr: "management address",
  address: "address",
};

/** One announcement as a sentence, with the receiving interface. */
function Heard({ evidence, node }: { readonly evidence: LinkEvidence; readonly node: LinkedNode | undefined }) {
  const heard = heardOf(evidence);
  return (
    <>
      {node !== undefined && <RecordLink type="host" id={node.id} name={node.name} />}{" "}
      <Named kind="if_entry" id={evidence.if_entry_id} /> hears by {PROTOCOLS[evidence.protocol]}:{" "}
      {heard.length === 0 && "an unidentified device"}
      {heard.map(({ field, value }, index) => (
        <span key={field}>
          {index > 0 && ", "}
          {ownValue(FIELDS, field) ?? field} <bdi class="mono">{value}</bdi>
        </span>
      ))}
      .
    </>
  );
}
