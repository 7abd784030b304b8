// The addresses of a host, in the order that it has them.

import type { Answer } from "../api/answer.ts";
import { AsItWas, ChangeSign, useChangeOf, useGone, Was } from "../changes/comparison.tsx";
import { Named } from "../names/named.tsx";
import { Copied } from "../parts/copied.tsx";
import { Paged } from "../parts/paged.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { hostText } from "../text/hosts.ts";
import { fieldText } from "../text/lists.ts";
import { isPast } from "../time/at.ts";
import type { HostAddress } from "./host-data.ts";

/** @param answer of `addressesOf` */
export function HostAddresses({ answer }: { readonly answer: Answer<readonly HostAddress[]> }) {
  const { data, problem, again } = answer;
  const changeOf = useChangeOf();
  const gone = useGone<HostAddress>("ip_address");
  if (data === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  const addresses = [...data, ...gone];
  if (addresses.length === 0) return <p>{hostText.noAddresses}</p>;
  return (
    <Paged rows={addresses} title={hostText.tabs.addresses} textOf={textOf}>
      {(rows) => (
        <RowsTable
          title={hostText.tabs.addresses}
          heads={[
            fieldText.ip_address,
            fieldText.mac_address,
            hostText.name,
            fieldText.subnet_id,
            !isPast.value && fieldText.last_seen_at,
          ]}
        >
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
        </RowsTable>
      )}
    </Paged>
  );
}

function textOf({ ip_address, mac_address, name }: HostAddress): string {
  return `${ip_address} ${mac_address ?? ""} ${name}`;
}
