// Current credential permissions per address, checked again before each send: an Admin may revoke one during a scan.
// Reads little per address; caches network-wide data until a subnet, credential or assignment changes.

import type { Reader } from "../../db/reading/reader.ts";
import { credentialAssignmentKind } from "../../resources/credential-assignments/credential-assignment.ts";
import { credentialKind } from "../../resources/credentials/credential.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { AcceptingSubnets } from "../../resources/subnets/accepting.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import { type Assignment, type KnownAddress, type KnownNetwork, readSubnets } from "./known-network.ts";

/** Permissions for one address, with the host assignments and addresses that concern it. */
interface StandingWord extends Pick<KnownNetwork, "assignments" | "byAddress"> {
  readonly subnets: AcceptingSubnets;
}

export interface AddressStanding {
  at(address: string): StandingWord;
  /**
   * True if a credential with the address among its first addresses may still be sent there.
   * @param isTaken true if the scan cleared the credential's first addresses, as a committing scan does
   */
  isNamed(credentialId: string, address: string, isTaken: boolean): boolean;
  /** Caches the result of `find` until the next commit. */
  untilCommit(name: string, find: () => boolean): boolean;
}

/** Permissions common to all addresses. */
interface NetworkWord {
  /** Transaction after which this was read. */
  readonly sequence: number;
  readonly subnets: AcceptingSubnets;
  readonly broadcast: readonly Assignment[];
}

export class StandingCredentials implements AddressStanding {
  private readonly reader: Reader;
  private readonly networkN: number;
  private word: NetworkWord | null = null;

  constructor(reader: Reader, networkN: number) {
    this.reader = reader;
    this.networkN = networkN;
  }

  at(address: string): StandingWord {
    return this.reader.snapshot(() => {
      const { subnets, broadcast } = this.networkWord();
      const owners = new Map<string, KnownAddress>();
      const assignments = [...broadcast];
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

  isNamed(credentialId: string, address: string, isTaken: boolean): boolean {
    const [row] = this.reader.snapshot(() => this.reader.statement(NAMED).values(this.networkN, credentialId)) as Array<
      [string | null, number]
    >;
    if (row === undefined) return false;
    const [targets, isElsewhere] = row;
    const isStanding = targets === null ? isTaken : (JSON.parse(targets) as string[]).includes(address);
    return isStanding && isElsewhere === 0;
  }

  untilCommit(name: string, find: () => boolean): boolean {
    return this.reader.snapshot(() => this.reader.remember(`may send ${name}`, find));
  }

  /**
   * A scan's own writes advance the ledger constantly: new versions are checked once, and the network is reloaded only
   * after relevant changes.
   */
  private networkWord(): NetworkWord {
    const { reader, networkN, word } = this;
    const { sequence } = reader.head();
    if (
      word !== null &&
      (word.sequence === sequence || (word.sequence < sequence && !this.isTouchedSince(word.sequence)))
    ) {
      this.word = { ...word, sequence };
      return word;
    }
    const broadcast = (reader.statement(BROADCAST).values(networkN) as Array<[string]>).map(
      ([credential_id]): Assignment => ({
        credential_id,
        host_id: null,
        ip_address_ids: null,
        covered: NOTHING_COVERED,
      }),
    );
    const fresh = { sequence, subnets: new AcceptingSubnets(readSubnets(reader, networkN)), broadcast };
    this.word = fresh;
    return fresh;
  }

  private isTouchedSince(sequence: number): boolean {
    const [[isTouched]] = this.reader.statement(TOUCHED_SINCE).values(sequence) as [[number]];
    return isTouched === 1;
  }
}

const NOTHING_COVERED: ReadonlySet<string> = new Set();
const DECIDING = [networkKind, subnetKind, credentialKind, credentialAssignmentKind].map(({ code }) => code).join();
const TOUCHED_SINCE = `SELECT EXISTS (SELECT 1 FROM history_versions v CROSS JOIN history_records r ON r.n = v.key >> 31
  WHERE (v.key & 2147483647) > ?1 AND r.kind IN (${DECIDING}))`;
const BROADCAST = `SELECT c.id FROM credential_assignments a JOIN history_records c ON c.n = a.credential_n
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
const NAMED = `SELECT json_extract('{' || c.members || '}', '$.target_ips'),
    EXISTS (SELECT 1 FROM credential_assignments a WHERE a.credential_n = c.n)
      AND NOT EXISTS (SELECT 1 FROM credential_assignments a WHERE a.credential_n = c.n AND a.network_n = ?1)
  FROM credentials c JOIN history_records r ON r.n = c.n WHERE r.id = ?2`;
