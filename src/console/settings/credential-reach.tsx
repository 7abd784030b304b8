// Recipients of a credential, with reasons: subnets by network, addresses by host.

import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { Copied } from "../components/copied.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { credentialText } from "../text/credentials.ts";
import { hrefOf } from "../url/location.ts";

type Reach = DataOf<"/api/v1/credentials/{id}/reach">;

export function reachOf(id: string) {
  return read("/api/v1/credentials/{id}/reach", { path: { id } });
}

export function CredentialReach({ id }: { readonly id: string }) {
  const live = { how: "refresh", types: ["credential", "subnet", "host", "ip_address"] } as const;
  const { data, problem, retry } = useResponse(reachOf(id), live);
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  const { networks, hosts, target_ips } = data;
  const isWaiting =
    networks.some(({ subnets_not_asked }) => subnets_not_asked > 0) ||
    hosts.some(({ addresses_waiting }) => addresses_waiting > 0);
  return (
    <>
      {networks.length + hosts.length + target_ips.length === 0 && <p>{credentialText.noRecipients}</p>}
      {networks.map((network) => (
        <NetworkReach key={network.network_id} network={network} />
      ))}
      {hosts.length > 0 && <HostReach hosts={hosts} />}
      {target_ips.length > 0 && (
        <p>
          {credentialText.firstTargets} {target_ips.join(", ")}
        </p>
      )}
      {isWaiting && (
        <p>
          <a href={hrefOf("/discovery/waiting")}>{credentialText.waitingLink}</a>
        </p>
      )}
    </>
  );
}

function NetworkReach({ network }: { readonly network: Reach["networks"][number] }) {
  const { name, subnets, subnets_asked, subnets_not_asked } = network;
  const remaining = subnets_asked + subnets_not_asked - subnets.length;
  return (
    <>
      <h3>
        <bdi>{name}</bdi>
      </h3>
      <p>
        {subnets_asked + subnets_not_asked === 0
          ? credentialText.reachNoSubnets
          : `${credentialText.reachNetwork(subnets_asked, subnets_not_asked)}.`}
      </p>
      {subnets.length > 0 && (
        <RowsTable title={name} heads={[credentialText.subnet, credentialText.status, credentialText.reason]}>
          {subnets.map(({ id, cidr, is_asked, accepts_credentials, subnet_type }) => (
            <tr key={id}>
              <th scope="row">
                <RecordLink type="subnet" id={id} name={cidr} />
              </th>
              <td>
                <span class={is_asked ? "state state-up" : "state state-down"}>
                  {is_asked ? credentialText.isSent : credentialText.isSkipped}
                </span>
              </td>
              <td>
                {is_asked
                  ? accepts_credentials && !isExcludedType(subnet_type)
                    ? credentialText.accepts
                    : credentialText.within
                  : isExcludedType(subnet_type)
                    ? credentialText.excludedType(subnet_type)
                    : credentialText.refuses}
              </td>
            </tr>
          ))}
        </RowsTable>
      )}
      {remaining > 0 && <p class="aside">{credentialText.listed(remaining)}</p>}
    </>
  );
}

/** Whether subnets of this type get credentials only at explicit targets; see `accepts_credentials` in the API. */
function isExcludedType(type: string): boolean {
  return ["Internet", "Remote", "Loopback"].includes(type);
}

function HostReach({ hosts }: { readonly hosts: Reach["hosts"] }) {
  return (
    <>
      <h3>{credentialText.hosts}</h3>
      <RowsTable
        title={credentialText.hosts}
        heads={[credentialText.host, credentialText.addresses, credentialText.reason]}
      >
        {hosts.map(({ host_id, name, is_host_wide, addresses, addresses_sent, addresses_waiting }) => (
          <tr key={host_id}>
            <th scope="row">
              <RecordLink type="host" id={host_id} name={name} />
            </th>
            <td>
              <AddressesSent addresses={addresses} count={addresses_sent + addresses_waiting} />
            </td>
            <td>
              {is_host_wide
                ? credentialText.hostWide
                : credentialText.someAddresses(addresses_sent + addresses_waiting)}
            </td>
          </tr>
        ))}
      </RowsTable>
    </>
  );
}

interface AddressesSentProps {
  readonly addresses: Reach["hosts"][number]["addresses"];
  /** Includes addresses not listed. */
  readonly count: number;
}

export function AddressesSent({ addresses, count }: AddressesSentProps) {
  return (
    <ul class="credential-hosts">
      {addresses.map(({ id, ip_address, is_sent }) => (
        <li key={id}>
          <Copied text={ip_address} />{" "}
          <span class={is_sent ? "state state-up" : "state trial-unclear"}>
            {is_sent ? credentialText.sent : credentialText.pendingApproval}
          </span>
        </li>
      ))}
      {count > addresses.length && <li class="aside">{credentialText.listed(count - addresses.length)}</li>}
    </ul>
  );
}
