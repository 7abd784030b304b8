// Interface page at the URL's timestamp: facts, connected devices, and status history.

import { type DataOf, read } from "../api/client.ts";
import { oneOf } from "../api/one-of.ts";
import { useResponse } from "../api/response.ts";
import { LinkButton } from "../components/buttons.tsx";
import { NamedFact, TimeFact } from "../components/fact-values.tsx";
import { Fact } from "../components/facts.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { Section } from "../components/section.tsx";
import { speedOf } from "../components/speed.ts";
import { Status } from "../components/status.tsx";
import { When } from "../components/when.tsx";
import { Value } from "../field-values/value.tsx";
import { ChangedFact } from "../history/changed-value.tsx";
import { RecordFacts } from "../history/record-facts.tsx";
import type { FaceplatePort } from "../hosts/host-data.ts";
import { ConnectedDevices, PortNames } from "../hosts/port-table.tsx";
import { ifEntryDetails } from "../kinds/if-entry.ts";
import { wordList } from "../kinds/word-list.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { Named } from "../names/named.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { RecordPage } from "../records/record-page.tsx";
import { fieldLabel } from "../text/lists.ts";
import { at, atQuery, isPast } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";
import { StatusHistory } from "./status-history.tsx";

type IfEntry = DataOf<"/api/v1/if-entries">[number];

export function InterfacePage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  const request = oneOf(read("/api/v1/if-entries", { query: { ids: [id], ...atQuery() } }));
  const historyRequest = read("/api/v1/if-entries/{id}/history", { path: { id }, query: atQuery() });
  return (
    <RecordPage
      kind="if_entry"
      id={id}
      url={request.url}
      response={useResponse(request, { how: "refresh", id })}
      hostId={({ host_id }) => host_id}
      about={({ host_id, if_alias }) => (
        <>
          <Named kind="host" id={host_id} /> {if_alias && <bdi>{if_alias}</bdi>}
        </>
      )}
      actions={({ host_id }) => (
        <LinkButton label="All interfaces of the device" href={hrefOf(`/hosts/${host_id}?tab=ports`)} />
      )}
      tabs={[
        {
          key: "overview",
          title: "Overview",
          show: (entry) => <Overview entry={entry} />,
          reads: [request.url, historyRequest.url],
        },
      ]}
    />
  );
}

function Overview({ entry }: { readonly entry: IfEntry }) {
  return (
    <>
      <div class="columns">
        <Section title="Details">
          <Facts entry={entry} />
        </Section>
        <Section title="Connected devices">
          <ConnectedTo entry={entry} />
        </Section>
      </div>
      <Section title="Status history" className="life-part">
        <StatusHistory id={entry.id} networkId={entry.network_id} />
      </Section>
    </>
  );
}

function Facts({ entry }: { readonly entry: IfEntry }) {
  const { id, speed_bps, native_vlan_id } = entry;
  const tagged = (entry.vlan_ids ?? []).filter((vlan) => vlan !== native_vlan_id);
  return (
    <dl class="facts">
      <NamedFact name="Host" kind="host" id={entry.host_id} />
      <ChangedFact id={id} field="oper_status" value={<Status status={entry.oper_status} />} />
      <ChangedFact id={id} field="admin_status" value={<Status status={entry.admin_status} />} />
      {typeof speed_bps === "number" && (
        <ChangedFact id={id} field="speed_bps" value={speed_bps > 0 && speedOf(speed_bps)} />
      )}
      {native_vlan_id && (
        <ChangedFact id={id} field="native_vlan_id" value={<Named kind="vlan" id={native_vlan_id} />} />
      )}
      {tagged.length > 0 && (
        <ChangedFact
          id={id}
          field="vlan_ids"
          name="Tagged"
          value={<Value field="vlan_ids" value={tagged} at={at.value} />}
        />
      )}
      {PART_OF.map(
        (field) =>
          entry[field] && (
            <ChangedFact key={field} id={id} field={field} value={<Named kind="if_entry" id={entry[field]} />} />
          ),
      )}
      <RecordFacts kind="if_entry" record={entry} details={ifEntryDetails} />
      <Fact name="Index">{entry.if_index}</Fact>
      <NamedFact name="Network" kind="network" id={entry.network_id} />
      <TimeFact name={fieldLabel("updated_at")} instant={entry.updated_at} />
      {/* Last-seen times are known only for now. */}
      {!isPast.value && entry.last_seen_at && (
        <TimeFact name={fieldLabel("last_seen_at")} instant={entry.last_seen_at} />
      )}
    </dl>
  );
}

/** Interfaces that the entry is part of. */
const PART_OF = ["lag_id", "parent_id"] as const;

const ANNOUNCED = wordList(
  "lldp_sys_name lldp_port_id lldp_chassis_id lldp_capabilities cdp_device_id cdp_port_id cdp_capabilities",
);

/** Neighbor with its announcements, and attached stations by name, from the interface's part of the faceplate. */
function ConnectedTo({ entry }: { readonly entry: IfEntry }) {
  const { id, host_id } = entry;
  const request = read("/api/v1/hosts/{id}/faceplate", { path: { id: host_id }, query: { ids: [id], ...atQuery() } });
  const { data, problem, retry } = useResponse(request, { how: "refresh", id });
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  const port = [...data.groups.flatMap(({ ports }) => ports), ...data.logical].find((candidate) => candidate.id === id);
  if (port === undefined) return null;
  if (port.neighbor === null && port.fdb_entries === 0 && port.members.length === 0)
    return <p class="aside">Nothing connected.</p>;
  return (
    <>
      {port.members.length > 0 && (
        <dl class="facts">
          <Fact name="Members">
            <PortNames ports={port.members} />
          </Fact>
        </dl>
      )}
      <NeighborFacts entry={entry} neighbor={port.neighbor} />
      <ConnectedDevices port={{ ...port, neighbor: null }} />
      {port.unused_since !== null && (
        <p class="aside">
          {port.unused_since === port.known_since ? "down since at least" : "down since"}{" "}
          <When instant={port.unused_since} as="both" />
        </p>
      )}
    </>
  );
}

function NeighborFacts({ entry, neighbor }: { readonly entry: IfEntry; readonly neighbor: FaceplatePort["neighbor"] }) {
  const announced = ANNOUNCED.flatMap((field) => {
    const value = entry[field];
    if (value === null || value === undefined) return [];
    const text = typeof value === "object" && "value" in value ? value.value : value;
    return [{ field, text: typeof text === "string" ? text : text.join(", ") }];
  });
  if (neighbor === null && announced.length === 0) return null;
  return (
    <dl class="facts">
      {neighbor !== null && (
        <Fact name="Neighbor">
          {neighbor.host === null ? (
            <bdi>{neighbor.announced_name || "unnamed device"}</bdi>
          ) : (
            <RecordLink type="host" {...neighbor.host} />
          )}{" "}
          {neighbor.interface === null ? (
            <bdi class="aside">{neighbor.announced_port}</bdi>
          ) : (
            <RecordLink type="if_entry" {...neighbor.interface} />
          )}
        </Fact>
      )}
      {announced.map(({ field, text }) => (
        <Fact key={field} name={fieldTitle(field)}>
          <bdi>{text}</bdi>
        </Fact>
      ))}
    </dl>
  );
}
