// Host neighbors: linked devices with evidence, stations on other ports, and the host's location.

import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { Section } from "../components/section.tsx";
import { speedOf } from "../components/speed.ts";
import { Status } from "../components/status.tsx";
import { When } from "../components/when.tsx";
import { Named } from "../names/named.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { atMs, atQuery } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { formatUtc, MINUTE_MS, MONTH_MS } from "../time/instant.ts";
import { hrefOf } from "../url/location.ts";
import type { FaceplateResponse, HostLink, LinkEvidence, LinkedNode } from "./host-data.ts";
import { HostLocations } from "./host-locations.tsx";
import type { ShownHost } from "./host-requests.ts";
import { HostStations } from "./host-stations.tsx";
import { announcedFields, LABELS, type LinkSince, type NeighborLink, neighborLinks, sinceByLink } from "./neighbors.ts";

const REFRESH_MS = 5_000;

/** Reads the links of a host. */
export function linksOf(hostId: string) {
  return read("/api/v1/topology", { query: { ...atQuery(), host_id: hostId } });
}

export function HostNeighbors({
  host,
  faceplate,
}: {
  readonly host: ShownHost;
  readonly faceplate: FaceplateResponse;
}) {
  return (
    <div class="stack">
      <Section title="Connected devices">
        <Links id={host.id} />
      </Section>
      <Section title="Stations on other ports">
        <HostStations response={faceplate} />
      </Section>
      <Section title="Connected to">
        <HostLocations host={host} />
      </Section>
    </div>
  );
}

const HEADS = ["Local port", "Neighbor", "Remote port", "State", "Since", "Source"];

function Links({ id }: { readonly id: string }) {
  const { data, problem, retry } = useResponse(linksOf(id), { how: "refresh", host_id: id, everyMs: REFRESH_MS });
  const since = useSince(data === undefined ? null : id);
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  const links = neighborLinks(id, data.links);
  if (links.length === 0) return <p class="aside">No links known: none announced by LLDP or CDP, and none entered.</p>;
  const nodes = new Map(data.nodes.map((node) => [node.id, node]));
  return (
    <RowsTable title="Connected devices" className="neighbors" heads={HEADS}>
      {links.map((neighbor) => (
        <LinkRow key={neighbor.link.id} {...neighbor} nodes={nodes} since={since?.get(neighbor.link.id)} />
      ))}
    </RowsTable>
  );
}

/** Start times within the last 30 days, in a separate request, since it takes longer. Null while unknown. */
function useSince(id: string | null): ReadonlyMap<string, LinkSince> | null {
  // Rounded to the minute, so that a rerender does not change the request.
  const toMs = atMs.value ?? Math.floor(exactNow() / MINUTE_MS) * MINUTE_MS;
  const fromMs = toMs - MONTH_MS;
  const period = { from: formatUtc(fromMs), ...(atMs.value === null ? {} : { to: formatUtc(toMs + 1) }) };
  const request = id === null ? null : read("/api/v1/topology", { query: { host_id: id, ...period } });
  const { data, isEarlier } = useResponse(request);
  if (data === undefined || isEarlier || data.truncated === true) return null;
  return sinceByLink(data.links, fromMs);
}

interface LinkRowProps extends NeighborLink<HostLink, HostLink["ends"][number]> {
  readonly nodes: ReadonlyMap<string, LinkedNode>;
  readonly since: LinkSince | undefined;
}

const CERTAINTIES = {
  Interfaces: "Both devices and both of their ports are known.",
  Hosts: "Both devices are known, but at least one of the ports is uncertain.",
  Announced: "The far device announces itself but is not in the inventory.",
  Beyond: "The announcement was forwarded by switches, so the device may not be at the other end of the link.",
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
            {link.evidence.map((evidence) => (
              <li key={`${evidence.if_entry_id} ${evidence.protocol}`}>
                <AnnouncementLine evidence={evidence} node={nodes.get(evidence.node_id)} />
              </li>
            ))}
            {link.evidence.length === 0 && <li>Entered manually.</li>}
          </ul>
        </details>
      </td>
    </tr>
  );
}

function PortName({ end: { if_entry, port } }: { readonly end: HostLink["ends"][number] }) {
  if (if_entry !== null) return <RecordLink type="if_entry" id={if_entry.id} name={if_entry.name} />;
  return port === null ? <span class="aside">unknown</span> : <bdi>{port}</bdi>;
}

function Device({ node: { id, kind, name, chassis_id, management_address } }: { readonly node: LinkedNode }) {
  const shown = <bdi>{name || chassis_id || management_address || "unnamed device"}</bdi>;
  if (kind === "Known") return <a href={hrefOf(`/hosts/${id}?tab=neighbors`)}>{shown}</a>;
  return (
    <>
      {shown} <span class="label">not in the inventory</span>
    </>
  );
}

/** One announcement with the interface that received it. */
function AnnouncementLine({ evidence, node }: Readonly<{ evidence: LinkEvidence; node: LinkedNode | undefined }>) {
  const announced = announcedFields(evidence);
  return (
    <>
      {node !== undefined && <RecordLink type="host" id={node.id} name={node.name} />}{" "}
      <Named kind="if_entry" id={evidence.if_entry_id} /> received via {PROTOCOLS[evidence.protocol]}:{" "}
      {announced.length === 0 && "an unidentified device"}
      {announced.map(({ field, value }, index) => (
        <span key={field}>
          {index > 0 && ", "}
          {LABELS[field]} <bdi class="mono">{value}</bdi>
        </span>
      ))}
      .
    </>
  );
}
