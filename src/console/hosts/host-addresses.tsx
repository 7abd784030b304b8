// The addresses of a host, in the order that it has them.

import { AsItWas, ChangeSign, useChangeOf, useGone, Was } from "../changes/comparison.tsx";
import { Named } from "../names/named.tsx";
import { Copied } from "../parts/copied.tsx";
import { Paged } from "../parts/paged.tsx";
import { When } from "../parts/when.tsx";
import { hostText } from "../text/hosts.ts";
import { fieldText } from "../text/lists.ts";
import { isPast } from "../time/at.ts";
import type { HostData } from "./host-data.ts";

export function HostAddresses({ host }: { readonly host: HostData }) {
  const changeOf = useChangeOf();
  const gone = useGone<Address>("ip_address");
  const addresses = [...(host.ip_addresses ?? []), ...gone];
  if (addresses.length === 0) return <p>{hostText.noAddresses}</p>;
  return (
    <Paged rows={addresses} title={hostText.tabs.addresses} textOf={textOf}>
      {(rows) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be focused
        <section class="table" tabIndex={0} aria-label={hostText.tabs.addresses}>
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">{fieldText.ip_address}</th>
                <th scope="col">{fieldText.mac_address}</th>
                <th scope="col">{hostText.name}</th>
                <th scope="col">{fieldText.subnet_id}</th>
                {!isPast.value && <th scope="col">{fieldText.last_seen_at}</th>}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ id, ip_address, mac_address, name, subnet_id, last_seen_at }) => (
                <tr key={id}>
                  <td>
                    <ChangeSign id={id} />
                    <Was id={id} field="ip_address" />
                    <Copied text={ip_address} />
                  </td>
                  <td>
                    <Was id={id} field="mac_address" />
                    {mac_address !== null && <Copied text={mac_address} />}
                  </td>
                  <td>
                    <Was id={id} field="name" />
                    <bdi>{name}</bdi>
                  </td>
                  <td>
                    <Was id={id} field="subnet_id" />
                    <AsItWas id={id}>
                      <Named kind="subnets" id={subnet_id} />
                    </AsItWas>
                  </td>
                  {!isPast.value && (
                    <td>{last_seen_at && changeOf(id) !== "removed" && <When instant={last_seen_at} />}</td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </Paged>
  );
}

type Address = NonNullable<HostData["ip_addresses"]>[number];

function textOf({ ip_address, mac_address, name }: Address): string {
  return `${ip_address} ${mac_address ?? ""} ${name}`;
}
