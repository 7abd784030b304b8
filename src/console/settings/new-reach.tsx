// Additional recipients of a credential, listed before it is saved.

import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { nameOf } from "../names/names.ts";
import { credentialText } from "../text/credentials.ts";

type Credential = DataOf<"/api/v1/credentials">[number];

interface NewReachProps {
  /** Null for a new credential. */
  readonly previous: Credential | null;
  readonly networks: readonly string[];
  readonly hosts: Credential["host_assignments"];
  readonly targets: readonly string[];
  readonly isSecretChanged: boolean;
}

/** Longer lists are impractical to read. */
const LISTED_MAX = 12;
/** Each network or host needs a separate request. */
const QUERIED_MAX = 20;

export function NewReach({ previous, networks, hosts, targets, isSecretChanged }: NewReachProps) {
  const newNetworks = networks.filter((id) => previous?.assigned_network_ids.includes(id) !== true);
  const previousHosts = new Set(previous?.host_assignments.map(({ host_id }) => host_id));
  const newHosts = hosts.filter(({ host_id }) => !previousHosts.has(host_id));
  const newTargets = targets.filter((address) => previous?.target_ips?.includes(address) !== true);
  const remaining = Math.max(0, newNetworks.length - QUERIED_MAX) + Math.max(0, newHosts.length - QUERIED_MAX);
  const isUnchanged = newNetworks.length + newHosts.length + newTargets.length === 0;
  return (
    <section role="status" class="note settings-note">
      <p>
        <strong>{credentialText.before}</strong>
      </p>
      {isUnchanged && <p>{credentialText.nothingNew}</p>}
      {isSecretChanged && <p>{credentialText.newSecretNote}</p>}
      {!isUnchanged && (
        <ul class="credential-new">
          {newNetworks.slice(0, QUERIED_MAX).map((id) => (
            <NewNetwork key={id} id={id} />
          ))}
          {newHosts.slice(0, QUERIED_MAX).map(({ host_id }) => (
            <NewHost key={host_id} id={host_id} />
          ))}
          {remaining > 0 && <li>{credentialText.listed(remaining)}</li>}
          {newTargets.length > 0 && (
            <li>{credentialText.newTargets(newTargets.slice(0, LISTED_MAX), newTargets.length - LISTED_MAX)}</li>
          )}
        </ul>
      )}
    </section>
  );
}

/** Same rule as the scans; see `accepts_credentials`. */
const ACCEPTING =
  'accepts_credentials = true AND subnet_type != "Internet" AND subnet_type != "Remote" AND subnet_type != "Loopback"';

function NewNetwork({ id }: { readonly id: string }) {
  const query = { network_id: id, filter: ACCEPTING, order_by: "cidr", limit: LISTED_MAX } as const;
  const { data, meta } = useResponse(read("/api/v1/subnets", { query }));
  const name = nameOf("network", id, null) ?? "…";
  if (data === undefined) return <li>{name}: …</li>;
  const count = meta?.pagination.total_count ?? data.length;
  return (
    <li>
      {credentialText.newNetwork(name, count)} {data.map(({ cidr }) => cidr).join(", ")}
      {count > data.length && ` ${credentialText.listed(count - data.length)}`}
    </li>
  );
}

function NewHost({ id }: { readonly id: string }) {
  const query = { host_id: id, order_by: "ip_address", limit: LISTED_MAX } as const;
  const { data, meta } = useResponse(read("/api/v1/ip-addresses", { query }));
  const name = nameOf("host", id, null) ?? "…";
  if (data === undefined) return <li>{name}: …</li>;
  const addresses = data.map(({ ip_address }) => ip_address);
  const remaining = (meta?.pagination.total_count ?? data.length) - data.length;
  return <li>{credentialText.newHost(name, addresses, remaining)}</li>;
}
