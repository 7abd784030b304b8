// Stations page: MAC addresses at edge ports, newest first. Initially limited to those without a host.

import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { FilterField } from "../lists/filter-field.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { Copied } from "../parts/copied.tsx";
import { csvOf } from "../parts/curl.ts";
import { Page } from "../parts/page.tsx";
import { Pager } from "../parts/pager.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { TabRow } from "../parts/tabs.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { scopeQuery } from "../time/at.ts";
import { hrefHere, hrefOf, parameter } from "../url/location.ts";

type Station = DataOf<"/api/v1/stations">[number];

const ROWS = 100;
const SHOWN = ["unknown", "known", "all"] as const;

const TAB_TITLES = { unknown: "Unknown", known: "Of known hosts", all: "All" };

export function StationsPage() {
  const shown = SHOWN.find((each) => each === parameter("show")) ?? "unknown";
  const known = shown === "all" ? {} : { known: shown === "known" };
  const filter = parameter("filter") ?? "";
  const offset = Math.max(0, Math.trunc(Number(parameter("offset") ?? 0)) || 0);
  const asked = read("/api/v1/stations", {
    query: { ...scopeQuery(), ...known, ...(filter === "" ? {} : { filter }), limit: ROWS, offset },
  });
  const { data, meta, problem, again } = useAnswer(asked, {
    how: "offer",
    types: ["host", "ip_address", "if_entry"],
  });
  const isOfFilter = problem?.issues.some(({ path }) => path === "/filter") === true;
  const pages = meta?.pagination;
  return (
    <Page title="Stations" reads={[asked.url]} csv={csvOf(asked.url)}>
      <TabRow label="Which stations" shown={shown}>
        {SHOWN.map((each) => (
          <a
            key={each}
            href={hrefHere({ show: each === "unknown" ? null : each, offset: null })}
            aria-current={each === shown ? "true" : undefined}
          >
            {TAB_TITLES[each]}
          </a>
        ))}
      </TabRow>
      <div class="list-tools">
        <FilterField
          kind="station"
          filter={filter}
          example={'vendor : "Raspberry" AND since > "-24h"'}
          problem={isOfFilter ? problem : undefined}
        />
      </div>
      <p class="aside about-list">
        MAC addresses at edge ports, as the forwarding tables have them. Ports with a neighbor or with more than four
        MAC addresses lead on to others.
      </p>
      {problem !== undefined && !isOfFilter && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data?.length === 0 && (filter === "" ? <NoStation shown={shown} /> : <p>No station matches the filter.</p>)}
      {data !== undefined && data.length > 0 && <StationTable stations={data} />}
      {pages !== undefined && (
        <Pager
          offset={offset}
          rows={ROWS}
          hasMore={pages.has_more}
          total={pages.total_count}
          newer="Newer"
          older="Older"
        />
      )}
    </Page>
  );
}

const NO_STATIONS = {
  unknown: "Every MAC address at an edge port belongs to a host.",
  known: "No MAC address at an edge port belongs to a host.",
  all: "No MAC address is known at an edge port. Scans of switches by SNMP read their forwarding tables.",
};

/** Distinguishes an empty selection from a network without any station. */
function NoStation({ shown }: { readonly shown: (typeof SHOWN)[number] }) {
  const any = read("/api/v1/stations", { query: { ...scopeQuery(), limit: 1 } });
  const { data } = useAnswer(shown === "all" ? null : any);
  if (shown !== "all" && data === undefined) return null;
  return <p>{NO_STATIONS[data === undefined || data.length === 0 ? "all" : shown]}</p>;
}

const TYPES: Readonly<Record<string, string>> = {
  Universal: "not in the registry",
  LocallyAdministered: "made up by software",
  VirtualRouter: "a virtual router's",
  Multicast: "a group's",
  Broadcast: "a group's",
  Null: "none",
};

function StationTable({ stations }: { readonly stations: readonly Station[] }) {
  const hasHosts = stations.some(({ hosts }) => hosts.length > 0);
  return (
    <RowsTable
      title="Stations"
      kind="stations"
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
              <span class="unseen"> {mac}</span>
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
            <RecordLink type="if_entry" id={port.id} name={port.name} />
          </td>
          <td>{station.vlan_numbers.join(", ")}</td>
        </tr>
      ))}
    </RowsTable>
  );
}
