// Identity of a host: the signs that identify the devices at its addresses as this host, and the next best candidates.

import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { HeadRow } from "../components/head-row.tsx";
import { NameLink } from "../components/name-link.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { When } from "../components/when.tsx";
import { atQuery } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";

type IdentifiedDevice = DataOf<"/api/v1/hosts/{id}/identity">["devices"][number];
type Sign = IdentifiedDevice["signs"][number];

const SIGN_NAMES: Readonly<Record<Sign["sign"], string>> = {
  serial_numbers: "Serial number",
  cards: "MAC addresses",
  chassis_id: "Chassis id",
  engine_id: "SNMP engine id",
  system_name: "System name",
  addresses: "Address",
};

export function HostIdentity({ id }: { readonly id: string }) {
  const { data, problem, retry } = useResponse(read("/api/v1/hosts/{id}/identity", { path: { id }, query: atQuery() }));
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  if (data.devices.length === 0) return <p class="aside">{data.decision}</p>;
  return (
    <>
      {data.devices.map((device) => (
        <DeviceIdentity key={device.ip_address} device={device} />
      ))}
    </>
  );
}

function DeviceIdentity({ device }: { readonly device: IdentifiedDevice }) {
  const { ip_address, decision, decided_at, signs, next } = device;
  return (
    <>
      <p class="prose">
        <bdi>{ip_address}</bdi>: <bdi>{decision}</bdi> <When instant={decided_at} />
      </p>
      {signs.length > 0 && <Signs signs={signs} />}
      {next !== null && (
        <>
          <p class="prose">
            Next best:{" "}
            {next.name === null ? (
              "a former host"
            ) : (
              <NameLink href={hrefOf(`/hosts/${next.host_id}`)} name={next.name} />
            )}
            , {next.score} bits
          </p>
          <Signs signs={next.signs} />
        </>
      )}
    </>
  );
}

function Signs({ signs }: { readonly signs: readonly Sign[] }) {
  return (
    <table class="rows identity-signs">
      <HeadRow heads={["Sign", "Bits", "Values"]} />
      <tbody>
        {signs.map(({ sign, weight, common, values, other_values }) => (
          <tr key={sign}>
            <th scope="row">{SIGN_NAMES[sign]}</th>
            <td>{weight}</td>
            <td>
              <bdi>{values.join(", ")}</bdi>
              {common > values.length && ` and ${common - values.length} more`}
              {other_values !== undefined && (
                <>
                  {" "}
                  instead of <bdi>{other_values.join(", ")}</bdi>
                </>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
