// Addresses of a host in numeric order, followed by removed ones. Read by page, since a host may have thousands.

import type { Answer } from "../api/answer.ts";
import type { MetaOf } from "../api/client.ts";
import { AsAnswered, AsItWas, ChangeSign, useChangeOf, useGone, Was } from "../changes/comparison.tsx";
import { mayWrite } from "../editing/edit-place.tsx";
import { EditRow } from "../editing/edit-row.tsx";
import { Named } from "../names/named.tsx";
import { Copied } from "../parts/copied.tsx";
import { PageFrame } from "../parts/paged.tsx";
import { pageOfRead } from "../parts/paged-rows.ts";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { CheckNow, mayCheck } from "../scanning/check-now.tsx";
import { editText } from "../text/editing.ts";
import { fieldLabel } from "../text/lists.ts";
import { isPast } from "../time/at.ts";
import { parameter } from "../url/location.ts";
import type { HostAddress } from "./host-data.ts";

interface HostAddressesProps {
  /** Response of `addressesOf`. */
  readonly answer: Answer<readonly HostAddress[], MetaOf<"/api/v1/ip-addresses">>;
}

export function HostAddresses({ answer }: HostAddressesProps) {
  return (
    <AsAnswered isEarlier={answer.isEarlier}>
      <Addresses answer={answer} />
    </AsAnswered>
  );
}

function Addresses({ answer: { data, meta, problem, again } }: HostAddressesProps) {
  const changeOf = useChangeOf();
  const gone = useGone<HostAddress>("ip_address");
  if (data === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  const read = { rows: data, count: meta?.pagination.total_count ?? data.length, behind: gone };
  const count = read.count + gone.length;
  if (count === 0) return <p>No addresses.</p>;
  const find = parameter("find") ?? "";
  const shown = pageOfRead(read, { page: parameter("page"), find, textOf });
  return (
    <PageFrame shown={shown} count={count} title="Addresses">
      {shown === null && (problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />)}
      {shown !== null && (
        <RowsTable
          title="Addresses"
          heads={[
            fieldLabel("ip_address"),
            fieldLabel("mac_address"),
            "Name",
            fieldLabel("subnet_id"),
            !isPast.value && fieldLabel("last_seen_at"),
            mayCheck() && "Check now",
            mayWrite("ip_address", "update") && editText.edit,
          ]}
        >
          {shown.rows.map(({ id, ip_address, mac_address, name, subnet_id, last_seen_at }) => (
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
                  <Named kind="subnet" id={subnet_id} />
                </AsItWas>
              </td>
              {!isPast.value && (
                <td>{last_seen_at && changeOf(id) !== "removed" && <When instant={last_seen_at} />}</td>
              )}
              {mayCheck() && (
                <td>
                  <CheckNow id={id} address={ip_address} />
                </td>
              )}
              {mayWrite("ip_address", "update") && (
                <td>
                  <EditRow kind="ip_address" id={id} name={ip_address} />
                </td>
              )}
            </tr>
          ))}
        </RowsTable>
      )}
    </PageFrame>
  );
}

function textOf({ ip_address, mac_address, name }: HostAddress): string {
  return `${ip_address} ${mac_address ?? ""} ${name}`;
}
