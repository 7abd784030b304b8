// Current recipients of a credential: subnets of its networks that accept it, addresses of its hosts that receive it or
// await an Admin's approval, and its initial addresses. Reads the same data as scans.

import { type Static, Type } from "@sinclair/typebox";
import type { Actor } from "../../access/actor.ts";
import { notFound } from "../../base/errors.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { CREDENTIAL_EXAMPLE, credentialKind } from "../../resources/credentials/credential.ts";
import { IP_ADDRESS_EXAMPLE } from "../../resources/ip-addresses/ip-address.ts";
import { AcceptingSubnets } from "../../resources/subnets/accepting.ts";
import { SKIPPED_TYPES, SUBNET_TYPES } from "../../resources/subnets/subnet-type.ts";
import { IpAddressText, OneOf, Uuid } from "../../schemas/schemas.ts";
import { readSubnets } from "./known-network.ts";

/** Maximum number of listed subnets and addresses; counts include all. */
export const REACH_LISTED_MAX = 500;

const Count = Type.Integer({ minimum: 0 });

export const CredentialReach = Type.Object(
  {
    credential_id: Uuid,
    networks: Type.Array(
      Type.Object({
        network_id: Uuid,
        name: Type.String(),
        subnets_asked: Count,
        subnets_not_asked: Count,
        subnets: Type.Array(
          Type.Object({
            id: Uuid,
            cidr: Type.String(),
            subnet_type: OneOf(SUBNET_TYPES),
            accepts_credentials: Type.Boolean(),
            is_asked: Type.Boolean({
              description:
                "Whether it accepts credentials, or is inside one that does. Internet, Remote and Loopback are scanned only when named.",
            }),
          }),
          { description: `Those that are not polled come first; at most ${REACH_LISTED_MAX}.` },
        ),
      }),
      { description: "Networks that the credential is assigned to as a whole." },
    ),
    hosts: Type.Array(
      Type.Object({
        host_id: Uuid,
        name: Type.String(),
        network_id: Uuid,
        is_host_wide: Type.Boolean({ description: "Whether it applies to every address of the host." }),
        addresses_sent: Count,
        addresses_waiting: Count,
        addresses: Type.Array(
          Type.Object({
            id: Uuid,
            ip_address: IpAddressText,
            is_sent: Type.Boolean({
              description: "Otherwise it waits for an Admin: `confirmIpAddress`, or a trial that gives the reason.",
            }),
          }),
          { description: `Those that are waiting come first; at most ${REACH_LISTED_MAX} over all hosts.` },
        ),
      }),
      { description: "Hosts that the credential is assigned to." },
    ),
    target_ips: Type.Array(IpAddressText, { description: "Tried first by the next scan, then removed." }),
  },
  { $id: "CredentialReach" },
);
export type CredentialReach = Static<typeof CredentialReach>;

/** Limited to the caller's networks. @throws DomainError entity_not_found */
export function credentialReach(reader: Reader, credentialId: string, actor: Actor): CredentialReach {
  const found = reader.find(credentialKind, credentialId, actor, null);
  if (found === null) throw notFound(credentialKind, credentialId);
  const reaches = (networkN: number) => actor.networkNs === null || actor.networkNs.includes(networkN);
  const { target_ips } = JSON.parse(found.text) as { target_ips: string[] | null };
  const networks = (reader.statement(NETWORKS).values(found.n) as Array<[number, string, string]>)
    .filter(([n]) => reaches(n))
    .map(([n, network_id, name]) => ({ network_id, name, ...subnetsOf(reader, n) }));
  return {
    credential_id: credentialId,
    networks,
    hosts: hostsOf(reader, found.n, reaches),
    target_ips: target_ips ?? [],
  };
}

function subnetsOf(reader: Reader, networkN: number) {
  const records = readSubnets(reader, networkN);
  const accepting = new AcceptingSubnets(records);
  const subnets = records.map((record) => ({
    ...record,
    is_asked: !SKIPPED_TYPES.includes(record.subnet_type) && accepting.acceptsAllOf(record.cidr),
  }));
  const asked = subnets.filter(({ is_asked }) => is_asked);
  const notAsked = subnets.filter(({ is_asked }) => !is_asked);
  return {
    subnets_asked: asked.length,
    subnets_not_asked: notAsked.length,
    subnets: [...notAsked, ...asked].slice(0, REACH_LISTED_MAX),
  };
}

type HostReach = CredentialReach["hosts"][number];

function hostsOf(reader: Reader, credentialN: number, reaches: (networkN: number) => boolean): HostReach[] {
  const hosts = new Map<string, Omit<HostReach, "addresses"> & { addresses: HostReach["addresses"] }>();
  const rows = reader.statement(HOSTS).values(credentialN) as Array<
    [number, string, string, string, string | null, string | null, string | null, number]
  >;
  for (const [networkN, network_id, host_id, name, ids, id, ip_address, isSent] of rows) {
    if (!reaches(networkN)) continue;
    const host = hosts.get(host_id) ?? {
      host_id,
      name,
      network_id,
      is_host_wide: ids === null,
      addresses_sent: 0,
      addresses_waiting: 0,
      addresses: [],
    };
    hosts.set(host_id, host);
    if (id === null || ip_address === null) continue;
    host.addresses.push({ id, ip_address, is_sent: isSent === 1 });
  }
  let remaining = REACH_LISTED_MAX;
  return [...hosts.values()].map((host) => {
    const waiting = host.addresses.filter(({ is_sent }) => !is_sent);
    const sent = host.addresses.filter(({ is_sent }) => is_sent);
    const addresses = [...waiting, ...sent].slice(0, remaining);
    remaining -= addresses.length;
    return { ...host, addresses_sent: sent.length, addresses_waiting: waiting.length, addresses };
  });
}

const NETWORKS = `SELECT a.network_n, r.id, json_extract('{' || n.members || '}', '$.name')
  FROM credential_assignments a JOIN history_records r ON r.n = a.network_n JOIN networks n ON n.n = a.network_n
  WHERE a.credential_n = ? AND a.host_n IS NULL ORDER BY a.n`;
/** One row per assigned address; one row for an assignment without addresses. */
const HOSTS = `SELECT a.network_n, w.id, h.id, json_extract('{' || o.members || '}', '$.name'),
    json_extract('{' || a.members || '}', '$.ip_address_ids'), r.id, i.ip_address,
    EXISTS (SELECT 1 FROM credential_coverage v WHERE v.assignment_n = a.n AND v.ip_address = i.ip_address
      AND v.until IS NULL)
  FROM credential_assignments a JOIN history_records w ON w.n = a.network_n
    JOIN history_records h ON h.n = a.host_n JOIN hosts o ON o.n = a.host_n
    LEFT JOIN ip_addresses i ON i.host_n = a.host_n
      AND (json_type('{' || a.members || '}', '$.ip_address_ids') = 'null'
        OR (SELECT id FROM history_records WHERE n = i.n) IN
          (SELECT value FROM json_each('{' || a.members || '}', '$.ip_address_ids')))
    LEFT JOIN history_records r ON r.n = i.n
  WHERE a.credential_n = ? AND a.host_n IS NOT NULL ORDER BY a.n, i.n`;

export const REACH_EXAMPLE: CredentialReach = {
  credential_id: CREDENTIAL_EXAMPLE.id,
  networks: [
    {
      network_id: CREDENTIAL_EXAMPLE.assigned_network_ids[0] as string,
      name: "Campus",
      subnets_asked: 1,
      subnets_not_asked: 0,
      subnets: [
        {
          id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0003",
          cidr: "10.2.3.0/24",
          subnet_type: "Lan",
          accepts_credentials: true,
          is_asked: true,
        },
      ],
    },
  ],
  hosts: [
    {
      host_id: IP_ADDRESS_EXAMPLE.host_id,
      name: "core-1",
      network_id: CREDENTIAL_EXAMPLE.assigned_network_ids[0] as string,
      is_host_wide: true,
      addresses_sent: 0,
      addresses_waiting: 1,
      addresses: [{ id: IP_ADDRESS_EXAMPLE.id, ip_address: IP_ADDRESS_EXAMPLE.ip_address, is_sent: false }],
    },
  ],
  target_ips: [],
};
