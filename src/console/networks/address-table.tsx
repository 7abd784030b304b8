// Address table of a subnet: state, host, MAC address, and last-seen time.

import type { DataOf } from "../api/client.ts";
import { Copied } from "../components/copied.tsx";
import { HeadRow } from "../components/head-row.tsx";
import { Paged } from "../components/paged.tsx";
import { When } from "../components/when.tsx";
import { LastPlace } from "../find/last-place.tsx";
import { Named } from "../names/named.tsx";
import { groupedDigits } from "../text/digits.ts";
import { subnetText } from "../text/networks.ts";
import { isPast } from "../time/at.ts";

/** Changes that affect the addresses of a subnet. */
export const ADDRESS_CHANGES = { how: "refresh", types: ["host", "ip_address", "ip_range", "subnet"] } as const;

export type AddressRow = DataOf<"/api/v1/subnets/{id}/addresses">[number];

export function AddressTable({ title, rows: allRows }: Readonly<{ title: string; rows: readonly AddressRow[] }>) {
  if (allRows.length === 0) return null;
  return (
    <>
      <h2>{title}</h2>
      <Paged rows={allRows} title={title} textOf={textOf}>
        {(rows) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
          <section class="table" tabIndex={0} aria-label={title}>
            <table class="rows address-rows" aria-label={title}>
              <HeadRow heads={["Address", "State", "Host", "MAC address", !isPast.value && "Last seen"]} />
              <tbody>
                {rows.map((row) => (
                  <Row key={row.first} row={row} />
                ))}
              </tbody>
            </table>
          </section>
        )}
      </Paged>
    </>
  );
}

function textOf({ first, last, state, ip_addresses }: AddressRow): string {
  const hostTexts = ip_addresses.flatMap(({ host, name, mac_address, vendor }) => [
    host.name,
    name,
    mac_address,
    vendor,
  ]);
  return [first, last, state, ...hostTexts].join(" ");
}

function Row({ row: { first, last, count, state, ip_addresses, conflict, subnet } }: { readonly row: AddressRow }) {
  return (
    <tr>
      <td>
        <Copied text={first} />
        {first !== last && (
          <>
            {" – "}
            <Copied text={last} /> <span class="aside">{groupedDigits(count)}</span>
          </>
        )}
      </td>
      <td class="address-state">
        {subnetText.states[state] ?? state}
        {ip_addresses.length > 1 && (
          <>
            {" "}
            <span class="label">{ip_addresses.length} hosts</span>
          </>
        )}
        {conflict?.acceptance != null && (
          <>
            {" "}
            <span class="label">accepted</span>
          </>
        )}
      </td>
      <td>
        {subnet !== null && <Named kind="subnet" id={subnet.id} />}
        {ip_addresses.map(({ id, host, last_seen }) => (
          <span key={id} class="station">
            <Named kind="host" id={host.id} /> {last_seen !== null && <LastPlace place={last_seen} />}
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
