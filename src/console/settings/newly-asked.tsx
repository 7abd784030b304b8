// Preview of a credential's additional reach before saving: subnets of networks, addresses of hosts, target addresses,
// and recipients of a replaced secret.

import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { nameOf } from "../names/names.ts";
import { credentialText } from "../text/credentials.ts";

type Credential = DataOf<"/api/v1/credentials">[number];

interface NewlyAskedProps {
  /** Null for a new credential. */
  readonly before: Credential | null;
  readonly networks: readonly string[];
  readonly hosts: Credential["host_assignments"];
  readonly targets: readonly string[];
  readonly isOtherSecret: boolean;
}

/** Longer lists are impractical to read. */
const LISTED_MAX = 12;
/** Each needs a request of its own. */
const ASKED_MAX = 20;

export function NewlyAsked({ before, networks, hosts, targets, isOtherSecret }: NewlyAskedProps) {
  const newNetworks = networks.filter((id) => before?.assigned_network_ids.includes(id) !== true);
  const newHosts = hosts.filter(
    ({ host_id }) => before?.host_assignments.some((each) => each.host_id === host_id) !== true,
  );
  const newTargets = targets.filter((address) => before?.target_ips?.includes(address) !== true);
  const more = Math.max(0, newNetworks.length - ASKED_MAX) + Math.max(0, newHosts.length - ASKED_MAX);
  const isNobody = newNetworks.length + newHosts.length + newTargets.length === 0;
  return (
    <section role="status" class="note settings-note">
      <p>
        <strong>{credentialText.before}</strong>
      </p>
      {isNobody && <p>{credentialText.nobodyNew}</p>}
      {isOtherSecret && <p>{credentialText.newSecretSays}</p>}
      {!isNobody && (
        <ul class="credential-new">
          {newNetworks.slice(0, ASKED_MAX).map((id) => (
            <NewNetwork key={id} id={id} />
          ))}
          {newHosts.slice(0, ASKED_MAX).map(({ host_id }) => (
            <NewHost key={host_id} id={host_id} />
          ))}
          {more > 0 && <li>{credentialText.listed(more)}</li>}
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
  const { data, meta } = useAnswer(
    read("/api/v1/subnets", {
      query: { network_id: id, filter: ACCEPTING, order_by: "cidr", limit: LISTED_MAX },
    }),
  );
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
  const { data, meta } = useAnswer(
    read("/api/v1/ip-addresses", { query: { host_id: id, order_by: "ip_address", limit: LISTED_MAX } }),
  );
  const name = nameOf("host", id, null) ?? "…";
  if (data === undefined) return <li>{name}: …</li>;
  const more = (meta?.pagination.total_count ?? data.length) - data.length;
  return (
    <li>
      {credentialText.newHost(
        name,
        data.map(({ ip_address }) => ip_address),
        more,
      )}
    </li>
  );
}
