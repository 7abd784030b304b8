// Stations page: MAC addresses at edge ports, newest first. Initially limited to those without a host.

import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { Copied } from "../components/copied.tsx";
import { csvOf } from "../components/curl.ts";
import { ListPager } from "../components/list-pager.tsx";
import { Page } from "../components/page.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { TabRow } from "../components/tabs.tsx";
import { When } from "../components/when.tsx";
import { FilterTools, isFilterProblem } from "../lists/filter-tools.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { scopeQuery } from "../time/at.ts";
import { hrefHere, hrefOf, pageOffset, parameter } from "../url/location.ts";

type Station = DataOf<"/api/v1/stations">[number];

const PAGE_ROWS = 100;
const EXAMPLE = 'vendor : "Raspberry" AND since > "-24h"';
const VIEWS = ["unknown", "known", "all"] as const;

const TAB_TITLES = { unknown: "Unknown", known: "Of known hosts", all: "All" };

export function StationsPage() {
  const shown = VIEWS.find((view) => view === parameter("show")) ?? "unknown";
  const known = shown === "all" ? {} : { known: shown === "known" };
  const filter = parameter("filter") ?? "";
  const offset = pageOffset.value;
  const request = read("/api/v1/stations", {
    query: { ...scopeQuery(), ...known, ...(filter === "" ? {} : { filter }), limit: PAGE_ROWS, offset },
  });
  const live = { how: "offer", types: ["host", "ip_address", "if_entry"] } as const;
  const { data, meta, problem, retry } = useResponse(request, live);
  return (
    <Page title="Stations" reads={[request.url]} csv={csvOf(request.url)}>
      <TabRow label="Stations" shown={shown}>
        {VIEWS.map((view) => (
          <a
            key={view}
            href={hrefHere({ show: view === "unknown" ? null : view, offset: null })}
            aria-current={view === shown ? "true" : undefined}
          >
            {TAB_TITLES[view]}
          </a>
        ))}
      </TabRow>
      <FilterTools kind="station" filter={filter} example={EXAMPLE} problem={problem} />
      <p class="aside about-list">
        MAC addresses at edge ports, from the forwarding tables. Ports with a network at the other end or with more than
        four MAC addresses are not edge ports.
      </p>
      {!isFilterProblem(problem) && <ResponseState data={data} problem={problem} retry={retry} />}
      {data?.length === 0 && (filter === "" ? <NoStation shown={shown} /> : <p>No station matches the filter.</p>)}
      {data !== undefined && data.length > 0 && <StationTable stations={data} />}
      {meta !== undefined && <ListPager rows={PAGE_ROWS} meta={meta} newer="Newer" older="Older" />}
    </Page>
  );
}

const NO_STATIONS = {
  unknown: "Every MAC address at an edge port belongs to a host.",
  known: "No MAC address at an edge port belongs to a host.",
  all: "No MAC addresses at edge ports. SNMP scans of switches read their forwarding tables.",
};

/** Says whether only this view is empty, or there are no stations at all. */
function NoStation({ shown }: { readonly shown: (typeof VIEWS)[number] }) {
  const any = read("/api/v1/stations", { query: { ...scopeQuery(), limit: 1 } });
  const { data } = useResponse(shown === "all" ? null : any);
  if (shown !== "all" && data === undefined) return null;
  return <p>{NO_STATIONS[data === undefined || data.length === 0 ? "all" : shown]}</p>;
}

const TYPES: Readonly<Record<string, string>> = {
  Universal: "unregistered",
  LocallyAdministered: "locally administered",
  VirtualRouter: "virtual router",
  Multicast: "group address",
  Broadcast: "group address",
  Null: "none",
};

function StationTable({ stations }: { readonly stations: readonly Station[] }) {
  const hasHosts = stations.some(({ hosts }) => hosts.length > 0);
  return (
    <RowsTable
      title="Stations"
      className="stations"
      heads={["Since", "MAC address", "Vendor", hasHosts && "Host", hasHosts && "Address", "Switch", "Port", "VLANs"]}
    >
      {stations.map(({ mac_address: mac, vendor, type, known_use, switch: device, port, hosts, ...station }) => (
        <tr key={`${port.id} ${mac}`}>
          <td>
            <When instant={station.since} precision="minute" />
          </td>
          <th scope="row">
            <Copied text={mac} />{" "}
            <a class="aside" href={hrefOf("/", { q: mac })}>
              locate
              <span class="visually-hidden"> {mac}</span>
            </a>
          </th>
          <td title={known_use ?? vendor ?? undefined}>
            {known_use ?? vendor ?? <span class="aside">{TYPES[type]}</span>}
          </td>
          {hasHosts && (
            <>
              <td>
                {hosts.map(({ id, name }) => (
                  <span key={id} class="station" title={name}>
                    <RecordLink type="host" id={id} name={name} />
                  </span>
                ))}
              </td>
              <td>
                {hosts.map(({ id, ip_addresses: [address, ...more] }) => (
                  <span key={id} class="station">
                    {address} {more.length > 0 && <span class="aside">+{more.length}</span>}
                  </span>
                ))}
              </td>
            </>
          )}
          <td>
            <RecordLink type="host" id={device.id} name={device.name} />
          </td>
          <td>
            <RecordLink type="if_entry" id={port.id} name={port.name} />{" "}
            <span class="aside">{[...station.members, ...station.units].map(({ name }) => name).join(", ")}</span>
          </td>
          <td>{station.vlan_numbers.join(", ")}</td>
        </tr>
      ))}
    </RowsTable>
  );
}
