// Address map of a subnet or part of one: one cell per address, and a table of the used addresses.

import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { type QueryOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { CellGrid } from "../components/cell-grid.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { MatchingComparison, ShownComparison } from "../history/comparison.tsx";
import { comparisonText } from "../text/compare.ts";
import { groupedDigits } from "../text/digits.ts";
import { subnetText } from "../text/networks.ts";
import { ownValue } from "../text/own-value.ts";
import { atMs, atQuery, isPast } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { formatUtc, HOUR_MS, MONTH_MS, parseInstant } from "../time/instant.ts";
import { hrefOf } from "../url/location.ts";
import { addressesIn, cellStateOf, changesByAddress, countsOf, expandRuns, lastPartOf } from "./address-map.ts";
import { ADDRESS_CHANGES, type AddressRow, AddressTable } from "./address-table.tsx";

/** From this number of cells on, rows have twice as many cells. */
const WIDE_FROM = 257;

interface AddressCellsProps {
  readonly subnet: { readonly id: string; readonly cidr: string; readonly created_at: string };
  /** Prefix within the subnet, or the subnet's own. */
  readonly part: string;
  /** Content above the map. */
  readonly head: ComponentChildren;
}

/** Map and table are separate items of the page's grid, so that a wide window can place the map in free space. */
export function AddressCells({ subnet: { id, cidr, created_at }, part, head }: AddressCellsProps) {
  const within = part === cidr ? {} : { within: part };
  const addressesRead = (query: QueryOf<"/api/v1/subnets/{id}/addresses">) =>
    read("/api/v1/subnets/{id}/addresses", { path: { id }, query: { ...query, ...within, limit: 0 } });
  const { data, problem, retry, isEarlier } = useResponse(addressesRead(atQuery()), ADDRESS_CHANGES);
  // One month earlier, rounded to the hour, so that the request stays the same for a while.
  const beforeMs = Math.floor(((atMs.value ?? exactNow()) - MONTH_MS) / HOUR_MS) * HOUR_MS;
  const existedBefore = (parseInstant(created_at) ?? beforeMs) < beforeMs;
  const beforeRead = addressesRead({ at: formatUtc(beforeMs), filter: "state = Used" });
  const monthAgo = useResponse(existedBefore ? beforeRead : null);
  const columns = addressesIn(part) >= WIDE_FROM ? 32 : 16;
  const usedBefore = new Set(monthAgo.data?.map(({ first }) => first));
  return (
    <>
      <section class={columns === 16 ? "subnet-map" : "subnet-map is-wide"}>
        {head}
        <ResponseState data={data} problem={problem} retry={retry} />
        {data !== undefined && (
          <MatchingComparison isEarlier={isEarlier}>
            <Cells rows={data} usedBefore={usedBefore} columns={columns} />
          </MatchingComparison>
        )}
      </section>
      {data !== undefined && (
        <section class="subnet-table">
          <AddressTable title="Addresses in use" rows={data.filter(({ ip_addresses }) => ip_addresses.length > 0)} />
        </section>
      )}
    </>
  );
}

type CellsProps = Readonly<{ rows: readonly AddressRow[]; usedBefore: Set<string>; columns: number }>;

function Cells({ rows: compactRows, usedBefore, columns }: CellsProps) {
  const rows = expandRuns(compactRows);
  const comparison = useContext(ShownComparison);
  const changes = comparison?.diff === undefined ? null : changesByAddress(comparison.diff);
  const nowMs = isPast.value ? null : exactNow();
  const states = rows.map((row) => cellStateOf(row, { nowMs, wasUsed: usedBefore.has(row.first) }));
  return (
    <>
      <div class="address-map">
        <CellGrid
          title="Addresses"
          columns={columns}
          cells={rows.map((row, index) =>
            cellOf(row, states[index] ?? row.state, row.first === row.last ? changes?.get(row.first) : undefined),
          )}
        />
      </div>
      <ul class="cell-legend">
        {countsOf(states).map(([state, count]) => (
          <li key={state}>
            <span class={`cell cell-${state}`} aria-hidden="true" /> {ownValue(subnetText.states, state) ?? state}{" "}
            <span class="aside">{groupedDigits(count)}</span>
          </li>
        ))}
      </ul>
      {comparison !== null && <p class="aside">{comparisonText.legend}</p>}
    </>
  );
}

type CellChange = keyof typeof comparisonText.changes;

function cellOf({ first, last, ip_addresses, subnet }: AddressRow, state: string, change: CellChange | undefined) {
  const names = ip_addresses.map(({ host }) => host.name ?? "").join(", ");
  const changeText = change === undefined ? "" : `(${comparisonText.changes[change]})`;
  const stateText =
    subnet === null
      ? (ownValue(subnetText.states, state) ?? state)
      : subnetText.blockInSubnet(subnet.cidr, subnet.name);
  const title = [first, last === first ? "" : `– ${last}`, stateText, names, changeText].filter(Boolean).join(" ");
  const [address] = ip_addresses;
  const page = subnet !== null ? `/subnets/${subnet.id}` : address !== undefined ? `/hosts/${address.host.id}` : null;
  return {
    id: first,
    className: `cell-${state} ${change === undefined ? "" : `cell-is-${change}`}`,
    title,
    href: page === null ? null : hrefOf(page),
    content: (
      <>
        {lastPartOf(first)}
        {page === null && change !== undefined && (
          <span class="visually-hidden"> {comparisonText.changes[change]}</span>
        )}
      </>
    ),
  };
}
