// Current credential permissions per address, checked again before each send: an Admin may revoke one during a scan.
// Reads little per address; caches network-wide data until a subnet, credential or assignment changes.

import type { Reader } from "../../db/reading/reader.ts";
import { credentialAssignmentKind } from "../../resources/credential-assignments/credential-assignment.ts";
import { credentialKind } from "../../resources/credentials/credential.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { AcceptingSubnets } from "../../resources/subnets/accepting.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import { type Assignment, type KnownAddress, type KnownNetwork, NO_ADDRESSES, readSubnets } from "./known-network.ts";

/** Permissions for one address, with the host assignments and addresses that concern it. */
interface PermissionsAtAddress extends Pick<KnownNetwork, "assignments" | "byAddress"> {
  readonly subnets: AcceptingSubnets;
}

export interface AddressPermissions {
  at(address: string): PermissionsAtAddress;
  /**
   * True if a credential with the address among its first addresses may still be sent there.
   * @param isCleared true if the scan cleared the credential's first addresses, as a committing scan does
   */
  isTargetIp(credentialId: string, address: string, isCleared: boolean): boolean;
  /** Caches the result of `find` until the next commit. */
  untilCommit(name: string, find: () => boolean): boolean;
}

/** Permissions common to all addresses. */
interface NetworkPermissions {
  /** Transaction after which this was read. */
  readonly sequence: number;
  readonly subnets: AcceptingSubnets;
  readonly networkWide: readonly Assignment[];
}

export class CurrentPermissions implements AddressPermissions {
  private readonly reader: Reader;
  private readonly networkN: number;
  private cached: NetworkPermissions | null = null;

  constructor(reader: Reader, networkN: number) {
    this.reader = reader;
    this.networkN = networkN;
  }

  at(address: string): PermissionsAtAddress {
    return this.reader.snapshot(() => {
      const { subnets, networkWide } = this.networkPermissions();
      const owners = new Map<string, KnownAddress>();
      const assignments = [...networkWide];
      const rows = this.reader.statement(AT_ADDRESS).values(this.networkN, address) as Array<
        [string, string, string, string | null, number]
      >;
      for (const [id, host_id, credential_id, ids, isCovered] of rows) {
        owners.set(id, { id, ip_address: address, host_id });
        assignments.push({
          credential_id,
          host_id,
          ip_address_ids: ids === null ? null : (JSON.parse(ids) as string[]),
          covered: new Set(isCovered === 1 ? [address] : []),
        });
      }
      return { subnets, assignments, byAddress: new Map([[address, [...owners.values()]]]) };
    });
  }

  isTargetIp(credentialId: string, address: string, isCleared: boolean): boolean {
    const [row] = this.reader.snapshot(() =>
      this.reader.statement(TARGET_IPS).values(this.networkN, credentialId),
    ) as Array<[string | null, number]>;
    if (row === undefined) return false;
    const [targets, isElsewhere] = row;
    const isListed = targets === null ? isCleared : (JSON.parse(targets) as string[]).includes(address);
    return isListed && isElsewhere === 0;
  }

  untilCommit(name: string, find: () => boolean): boolean {
    return this.reader.snapshot(() => this.reader.cached(`may send ${name}`, find));
  }

  /**
   * A scan's own writes advance the ledger constantly: new versions are checked once, and the network is reloaded only
   * after relevant changes.
   */
  private networkPermissions(): NetworkPermissions {
    const { reader, networkN, cached } = this;
    const { sequence } = reader.head();
    const isUnchanged = (before: number) => before === sequence || (before < sequence && !this.hasChangedSince(before));
    if (cached !== null && isUnchanged(cached.sequence)) {
      this.cached = { ...cached, sequence };
      return cached;
    }
    const rows = reader.statement(NETWORK_WIDE).values(networkN) as Array<[string]>;
    const wide = { host_id: null, ip_address_ids: null, covered: NO_ADDRESSES };
    const networkWide = rows.map(([credential_id]): Assignment => ({ credential_id, ...wide }));
    const loaded = { sequence, subnets: new AcceptingSubnets(readSubnets(reader, networkN)), networkWide };
    this.cached = loaded;
    return loaded;
  }

  private hasChangedSince(sequence: number): boolean {
    const [[hasChanged]] = this.reader.statement(CHANGED_SINCE).values(sequence) as [[number]];
    return hasChanged === 1;
  }
}

const RELEVANT_KINDS = [networkKind, subnetKind, credentialKind, credentialAssignmentKind]
  .map(({ code }) => code)
  .join();
const CHANGED_SINCE = `SELECT EXISTS (SELECT 1 FROM history_versions v CROSS JOIN history_records r ON r.n = v.key >> 31
  WHERE (v.key & 2147483647) > ?1 AND r.kind IN (${RELEVANT_KINDS}))`;
const NETWORK_WIDE = `SELECT c.id FROM credential_assignments a JOIN history_records c ON c.n = a.credential_n
  WHERE a.network_n = ? AND a.host_n IS NULL ORDER BY a.credential_n, a.n`;
/**
 * By address: a network has far more addresses than share one value. In order of creation of the addresses and
 * credentials.
 */
const AT_ADDRESS = `SELECT r.id, h.id, c.id, json_extract('{' || a.members || '}', '$.ip_address_ids'),
    EXISTS (SELECT 1 FROM credential_coverage v WHERE v.assignment_n = a.n AND v.ip_address = i.ip_address
      AND v.until IS NULL)
  FROM ip_addresses i CROSS JOIN credential_assignments a ON a.host_n = i.host_n
    JOIN history_records r ON r.n = i.n JOIN history_records h ON h.n = i.host_n
      JOIN history_records c ON c.n = a.credential_n
  WHERE i.ip_address = ?2 AND +i.network_n = ?1 ORDER BY i.n, a.credential_n, a.n`;
/** Its current first addresses, and whether it is assigned, but not in this network. */
const TARGET_IPS = `SELECT json_extract('{' || c.members || '}', '$.target_ips'),
    EXISTS (SELECT 1 FROM credential_assignments a WHERE a.credential_n = c.n)
      AND NOT EXISTS (SELECT 1 FROM credential_assignments a WHERE a.credential_n = c.n AND a.network_n = ?1)
  FROM credentials c JOIN history_records r ON r.n = c.n WHERE r.id = ?2`;
