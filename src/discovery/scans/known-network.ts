// Snapshot of a network for a scan: subnets, hosts with addresses, credentials. Read once, outside the writer.

import { append } from "../../base/multimap.ts";
import type { Reader } from "../../db/reading/reader.ts";
import type { SubnetPolicy } from "../../resources/subnets/accepting.ts";
import type { SubnetType } from "../../resources/subnets/subnet-type.ts";
import type { WorkingCredential } from "../sightings.ts";

export interface KnownAddress {
  readonly id: string;
  readonly ip_address: string;
  readonly host_id: string;
}

export interface KnownHost {
  readonly id: string;
  readonly name: string;
  /** Null if never reported. */
  readonly sys_name: string | null;
  /** By creation time. */
  readonly addresses: readonly KnownAddress[];
}

/** A credential to try in the network, on a host, or at some of the host's addresses. */
export interface Assignment {
  readonly credential_id: string;
  readonly host_id: string | null;
  readonly ip_address_ids: readonly string[] | null;
  /** For a host: addresses that may receive the credential (credential-assignments/coverage.ts). */
  readonly covered: ReadonlySet<string>;
}

export interface KnownNetwork {
  readonly n: number;
  readonly staleAfterHours: number | null;
  readonly subnets: readonly SubnetPolicy[];
  readonly hosts: ReadonlyMap<string, KnownHost>;
  /** Routers may share an address. */
  readonly byAddress: ReadonlyMap<string, readonly KnownAddress[]>;
  readonly assignments: readonly Assignment[];
  /** Last working credential by address. */
  readonly remembered: ReadonlyMap<string, WorkingCredential>;
}

/** Returns null for a deleted network. */
export function readKnownNetwork(reader: Reader, networkId: string): KnownNetwork | null {
  return reader.snapshot(() => {
    const n = reader.recordN(networkId);
    const [network] = (
      n === null
        ? []
        : reader
            .statement("SELECT json_extract('{' || members || '}', '$.stale_after_hours') FROM networks WHERE n = ?")
            .values(n)
    ) as Array<[number | null]>;
    if (n === null || network === undefined) return null;
    const byAddress = new Map<string, KnownAddress[]>();
    const byHost = new Map<string, KnownAddress[]>();
    for (const [id, ip_address, host_id] of reader.statement(ADDRESSES).values(n) as Array<[string, string, string]>) {
      const address = { id, ip_address, host_id };
      append(byAddress, ip_address, address);
      append(byHost, host_id, address);
    }
    const covered = new Map<number, Set<string>>();
    for (const [assignmentN, value] of reader.statement(COVERED).values(n) as Array<[number, string]>) {
      const values = covered.get(assignmentN);
      if (values === undefined) covered.set(assignmentN, new Set([value]));
      else values.add(value);
    }
    const hosts = new Map<string, KnownHost>();
    for (const [id, name, sys_name] of reader.statement(HOSTS).values(n) as Array<[string, string, string | null]>)
      hosts.set(id, { id, name, sys_name, addresses: byHost.get(id) ?? [] });
    return {
      n,
      staleAfterHours: network[0],
      subnets: readSubnets(reader, n),
      hosts,
      byAddress,
      assignments: (
        reader.statement(ASSIGNMENTS).values(n) as Array<[number, string, string | null, string | null]>
      ).map(([assignmentN, credential_id, host_id, ids]) => ({
        credential_id,
        host_id,
        ip_address_ids: ids === null ? null : (JSON.parse(ids) as string[]),
        covered: covered.get(assignmentN) ?? NO_ADDRESSES,
      })),
      remembered: new Map(
        (reader.statement(REMEMBERED).values(n) as Array<[string, string, WorkingCredential["key_extension"]]>).map(
          ([address, credential_id, key_extension]) => [address, { credential_id, key_extension }],
        ),
      ),
    };
  });
}

/** By creation time. */
export function readSubnets(reader: Reader, networkN: number): SubnetPolicy[] {
  const rows = reader.statement(SUBNETS).values(networkN) as Array<[string, string, SubnetType, number]>;
  return rows.map(([id, cidr, subnet_type, accepts]) => ({ id, cidr, subnet_type, accepts_credentials: accepts > 0 }));
}

const ADDRESSES = `SELECT r.id, a.ip_address, h.id FROM ip_addresses a JOIN history_records r ON r.n = a.n
    JOIN history_records h ON h.n = a.host_n WHERE a.network_n = ? ORDER BY a.n`;
const HOSTS = `SELECT r.id, json_extract('{' || h.members || '}', '$.name'), json_extract('{' || h.members || '}',
  '$.sys_name')
    FROM hosts h JOIN history_records r ON r.n = h.n WHERE h.network_n = ? ORDER BY h.n`;
const SUBNETS = `SELECT r.id, s.cidr, json_extract('{' || s.members || '}', '$.subnet_type'), s.accepts_credentials
  FROM subnets s
    JOIN history_records r ON r.n = s.n WHERE s.network_n = ? ORDER BY s.n`;
/** By creation of the credentials. */
const ASSIGNMENTS = `SELECT a.n, c.id, h.id, json_extract('{' || a.members || '}', '$.ip_address_ids')
  FROM credential_assignments a
    JOIN history_records c ON c.n = a.credential_n LEFT JOIN history_records h ON h.n = a.host_n
    WHERE a.network_n = ? ORDER BY a.credential_n, a.n`;
const COVERED = `SELECT v.assignment_n, v.ip_address FROM credential_assignments a
    JOIN credential_coverage v ON v.assignment_n = a.n WHERE a.network_n = ? AND a.host_n IS NOT NULL
    AND v.until IS NULL`;
export const NO_ADDRESSES: ReadonlySet<string> = new Set();
const REMEMBERED = `SELECT d.ip_address, r.id, d.key_extension FROM discovery_credentials d
    JOIN history_records r ON r.n = d.credential_n WHERE d.network_n = ?`;
