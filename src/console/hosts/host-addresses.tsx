// Addresses of a host in numeric order, followed by removed ones. Read page by page: a host may have thousands.

import type { MetaOf } from "../api/client.ts";
import type { ApiResponse } from "../api/response.ts";
import { Copied } from "../components/copied.tsx";
import { PageFrame } from "../components/paged.tsx";
import { pageOfRead } from "../components/paged-rows.ts";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { When } from "../components/when.tsx";
import { EditRow } from "../editing/edit-row.tsx";
import { mayWrite } from "../editing/edit-slot.tsx";
import { ChangedCell } from "../history/changed-value.tsx";
import {
  ChangeSign,
  MatchingComparison,
  NamedAsBefore,
  PreviousValue,
  useChangeOf,
  useRemoved,
} from "../history/comparison.tsx";
import { Named } from "../names/named.tsx";
import { CheckNow, mayCheck } from "../scanning/check-now.tsx";
import { editText } from "../text/editing.ts";
import { fieldLabel } from "../text/lists.ts";
import { isPast } from "../time/at.ts";
import { parameter } from "../url/location.ts";
import type { HostAddress } from "./host-data.ts";

interface HostAddressesProps {
  /** Response of `addressesRequest`. */
  readonly response: ApiResponse<readonly HostAddress[], MetaOf<"/api/v1/ip-addresses">>;
}

export function HostAddresses({ response }: HostAddressesProps) {
  return (
    <MatchingComparison isEarlier={response.isEarlier}>
      <Addresses response={response} />
    </MatchingComparison>
  );
}

function Addresses({ response: { data, meta, problem, retry } }: HostAddressesProps) {
  const changeOf = useChangeOf();
  const removed = useRemoved<HostAddress>("ip_address");
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  const rowsRead = { rows: data, count: meta?.pagination.total_count ?? data.length, trailing: removed };
  const count = rowsRead.count + removed.length;
  if (count === 0) return <p>No addresses.</p>;
  const find = parameter("find") ?? "";
  const shown = pageOfRead(rowsRead, { page: parameter("page"), find, textOf });
  return (
    <PageFrame shown={shown} count={count} title="Addresses">
      {shown === null && <ResponseState problem={problem} retry={retry} />}
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
                <PreviousValue id={id} field="ip_address" />
                <Copied text={ip_address} />
              </td>
              <ChangedCell id={id} field="mac_address" value={mac_address !== null && <Copied text={mac_address} />} />
              <ChangedCell id={id} field="name" value={<bdi>{name}</bdi>} />
              <td>
                <PreviousValue id={id} field="subnet_id" />
                <NamedAsBefore id={id}>
                  <Named kind="subnet" id={subnet_id} />
                </NamedAsBefore>
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
