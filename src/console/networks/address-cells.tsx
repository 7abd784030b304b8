// Address map of a subnet or part of one: a cell per address, and a table of the hosts.

import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { AsAnswered, ShownComparison } from "../changes/comparison.tsx";
import { CellGrid } from "../parts/cell-grid.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { comparisonText } from "../text/compare.ts";
import { groupedDigits } from "../text/digits.ts";
import { subnetText } from "../text/networks.ts";
import { ownValue } from "../text/own-value.ts";
import { atMs, atQuery, isPast } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefOf } from "../url/location.ts";
import { addressesIn, cellStateOf, changesByAddress, countsOf, lastPartOf, oneByOne } from "./address-map.ts";
import { type AddressRow, AddressTable } from "./address-table.tsx";

/** From this number of cells on, rows are denser, so that a row is a round number. */
const WIDE_FROM = 257;
const MONTH_MS = 30 * 86_400_000;
const HOUR_MS = 3_600_000;

interface AddressCellsProps {
  readonly subnet: { readonly id: string; readonly cidr: string; readonly created_at: string };
  /** Prefix within the subnet, or the subnet's own. */
  readonly part: string;
  /** Content above the map. */
  readonly head: ComponentChildren;
}

/** Map and table are items of the page's grid: a wide window places the map in the free space. */
export function AddressCells({ subnet: { id, cidr, created_at }, part, head }: AddressCellsProps) {
  const within = part === cidr ? {} : { within: part };
  const { data, problem, again, isEarlier } = useAnswer(
    read("/api/v1/subnets/{id}/addresses", { path: { id }, query: { ...atQuery(), ...within, limit: 0 } }),
    { how: "refresh", types: ["host", "ip_address", "ip_range", "subnet"] },
  );
  // One month earlier, rounded to the hour, so that the request stays the same for a while.
  const beforeMs = Math.floor(((atMs.value ?? exactNow()) - MONTH_MS) / HOUR_MS) * HOUR_MS;
  const before = { at: formatUtc(beforeMs), ...within, filter: "state = Used", limit: 0 };
  const isOlder = (parseInstant(created_at) ?? beforeMs) < beforeMs;
  const then = useAnswer(isOlder ? read("/api/v1/subnets/{id}/addresses", { path: { id }, query: before }) : null);
  const columns = addressesIn(part) >= WIDE_FROM ? 32 : 16;
  const usedBefore = new Set(then.data?.map(({ first }) => first));
  return (
    <>
      <section class={columns === 16 ? "subnet-map" : "subnet-map is-wide"}>
        {head}
        {problem !== undefined && <Problem problem={problem} again={again} />}
        {data === undefined && problem === undefined && <Waiting />}
        {data !== undefined && (
          <AsAnswered isEarlier={isEarlier}>
            <Cells rows={data} usedBefore={usedBefore} columns={columns} />
          </AsAnswered>
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

interface CellsProps {
  readonly rows: readonly AddressRow[];
  readonly usedBefore: Set<string>;
  readonly columns: number;
}

function Cells({ rows: told, usedBefore, columns }: CellsProps) {
  const rows = oneByOne(told);
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
  const became = change === undefined ? "" : `(${comparisonText.changes[change]})`;
  const what =
    subnet === null
      ? (ownValue(subnetText.states, state) ?? state)
      : subnetText.blockInSubnet(subnet.cidr, subnet.name);
  const title = [first, last === first ? "" : `– ${last}`, what, names, became].filter(Boolean).join(" ");
  const [address] = ip_addresses;
  const page = subnet !== null ? `/subnets/${subnet.id}` : address !== undefined ? `/hosts/${address.host.id}` : null;
  return {
    id: first,
    kind: `cell-${state} ${change === undefined ? "" : `cell-is-${change}`}`,
    title,
    href: page === null ? null : hrefOf(page),
    content: (
      <>
        {lastPartOf(first)}
        {page === null && change !== undefined && <span class="unseen"> {comparisonText.changes[change]}</span>}
      </>
    ),
  };
}
