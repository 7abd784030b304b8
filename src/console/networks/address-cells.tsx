// The address map of a subnet: a cell for each address, or a row for each run of them where they are many; and who has
// which, as a table.

import { useContext } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { ShownComparison } from "../changes/comparison.tsx";
import { Named } from "../names/named.tsx";
import { Copied } from "../parts/copied.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { comparisonText } from "../text/compare.ts";
import { subnetText } from "../text/networks.ts";
import { atQuery, isPast } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { hrefOf } from "../url/location.ts";
import { cellStateOf, changesByAddress, countsOf, hasCells, lastPartOf } from "./address-map.ts";

type AddressRow = DataOf<"/api/v1/subnets/{id}/addresses">[number];

/** Of a subnet without cells: runs, and what is in use. */
const ROWS_MAX = 1_000;
/** More of them stand closer, so that a row is a round number. */
const WIDE_FROM = 257;

export function AddressCells({
  subnet: { id, cidr },
}: {
  readonly subnet: { readonly id: string; readonly cidr: string };
}) {
  const isSmall = hasCells(cidr);
  const query = { ...atQuery(), limit: isSmall ? 0 : ROWS_MAX };
  const { data, meta, problem, again } = useAnswer(read("/api/v1/subnets/{id}/addresses", { path: { id }, query }), {
    how: "refresh",
    types: ["host", "ip_address", "ip_range", "subnet"],
  });
  if (problem !== undefined && data === undefined) return <Problem problem={problem} again={again} />;
  if (data === undefined) return <Waiting />;
  const left = (meta?.pagination.total_count ?? 0) - data.length;
  return (
    <>
      {isSmall && <Cells rows={data} />}
      <AddressTable
        title={isSmall ? subnetText.asTable : subnetText.runs}
        rows={isSmall ? data.filter(({ ip_addresses }) => ip_addresses.length > 0) : data}
      />
      {left > 0 && <p class="aside">{subnetText.moreRows(left)}</p>}
    </>
  );
}

function Cells({ rows }: { readonly rows: readonly AddressRow[] }) {
  const comparison = useContext(ShownComparison);
  const changes = comparison?.diff === undefined ? null : changesByAddress(comparison.diff);
  const nowMs = isPast.value ? null : exactNow();
  const states = rows.map((row) => cellStateOf(row, nowMs));
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be focused */}
      <section class="address-map" tabIndex={0} aria-label={subnetText.map}>
        <div class={rows.length >= WIDE_FROM ? "cells is-wide" : "cells"}>
          {rows.map((row, index) => (
            <Cell
              key={row.first}
              row={row}
              state={states[index] ?? row.state}
              change={row.first === row.last ? changes?.get(row.first) : undefined}
            />
          ))}
        </div>
      </section>
      <ul class="cell-legend">
        {countsOf(states).map(([state, count]) => (
          <li key={state}>
            <span class={`cell cell-${state}`} aria-hidden="true" /> {subnetText.states[state] ?? state}{" "}
            <span class="aside">{subnetText.number(count)}</span>
          </li>
        ))}
      </ul>
      {comparison !== null && <p class="aside">{comparisonText.legend}</p>}
    </>
  );
}

function Cell({
  row: { first, last, ip_addresses, subnet },
  state,
  change,
}: {
  readonly row: AddressRow;
  readonly state: string;
  readonly change: keyof typeof comparisonText.changes | undefined;
}) {
  const names = ip_addresses.map(({ host }) => host.name ?? "").join(", ");
  const became = change === undefined ? "" : `(${comparisonText.changes[change]})`;
  const title = [first, last === first ? "" : `– ${last}`, subnetText.states[state] ?? state, names, became]
    .filter(Boolean)
    .join(" ");
  const [address] = ip_addresses;
  const page = subnet !== null ? `/subnets/${subnet.id}` : address !== undefined ? `/hosts/${address.host.id}` : null;
  const text = lastPartOf(first);
  const look = `cell cell-${state} ${change === undefined ? "" : `cell-is-${change}`}`;
  if (page === null)
    return (
      <span class={look} title={title}>
        {text}
        {change !== undefined && <span class="unseen"> {comparisonText.changes[change]}</span>}
      </span>
    );
  return (
    <a class={look} href={hrefOf(page)} title={title} aria-label={title}>
      {text}
    </a>
  );
}

function AddressTable({ title, rows }: { readonly title: string; readonly rows: readonly AddressRow[] }) {
  if (rows.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be focused
    <section class="table" tabIndex={0} aria-label={title}>
      <table class="rows address-rows">
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">{subnetText.address}</th>
            <th scope="col">{subnetText.state}</th>
            <th scope="col">{subnetText.host}</th>
            <th scope="col">{subnetText.mac}</th>
            {!isPast.value && <th scope="col">{subnetText.seen}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.first} row={row} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ row: { first, last, count, state, ip_addresses, subnet } }: { readonly row: AddressRow }) {
  return (
    <tr>
      <td>
        <Copied text={first} />
        {first !== last && (
          <>
            {" – "}
            <Copied text={last} /> <span class="aside">{subnetText.number(count)}</span>
          </>
        )}
      </td>
      <td>
        {subnetText.states[state] ?? state}
        {ip_addresses.length > 1 && <span class="label">{subnetText.twice(ip_addresses.length)}</span>}
      </td>
      <td>
        {subnet !== null && <Named kind="subnets" id={subnet.id} />}
        {ip_addresses.map(({ id, host }) => (
          <span key={id} class="station">
            <Named kind="hosts" id={host.id} />
          </span>
        ))}
      </td>
      <td>
        {ip_addresses.map(({ id, mac_address, vendor }) => (
          <span key={id} class="station">
            {mac_address !== null && <Copied text={mac_address} />} <span class="aside">{vendor}</span>
          </span>
        ))}
      </td>
      {!isPast.value && (
        <td>
          {ip_addresses.map(({ id, last_seen_at }) => (
            <span key={id} class="station">
              <When instant={last_seen_at} as="age" />
            </span>
          ))}
        </td>
      )}
    </tr>
  );
}
