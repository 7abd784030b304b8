// Records of a network that end next unless a scan sees them again.

import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { When } from "../components/when.tsx";
import { RecordLink } from "../names/record-link.tsx";

export function ExpiresNext({ networkId }: { readonly networkId: string }) {
  const { data, problem, retry } = useResponse(read("/api/v1/networks/{id}/expiring", { path: { id: networkId } }), {
    how: "refresh",
    types: ["host", "ip_address", "network"],
    network_id: networkId,
  });
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  return (
    <>
      <h2>Expires next</h2>
      {data.next.length === 0 ? (
        <p class="aside">Nothing expires: no host or address is known only from sweeps and neighbor tables.</p>
      ) : (
        <RowsTable title="Expires next" heads={["Record", "Last seen", "Expires"]}>
          {data.next.map(({ type, id, name, last_seen_at, expires_at }) => (
            <tr key={id}>
              <th scope="row">
                <RecordLink type={type} id={id} name={name} />
              </th>
              <td>
                <When instant={last_seen_at} as="age" />
              </td>
              <td>
                <When instant={expires_at} />
              </td>
            </tr>
          ))}
        </RowsTable>
      )}
    </>
  );
}
