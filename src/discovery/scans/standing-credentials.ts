// Who may be sent which credential at this moment: asked anew just before one is sent, since an Admin may have taken it
// back while the scan runs. Reads little for each address; what holds for the whole network is kept until a subnet, a
// credential or an assignment changes.

import type { Reader } from "../../db/reading/reader.ts";
import { credentialAssignmentKind } from "../../resources/credential-assignments/credential-assignment.ts";
import { credentialKind } from "../../resources/credentials/credential.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { AcceptingSubnets } from "../../resources/subnets/accepting.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import { type Assignment, type KnownAddress, type KnownNetwork, readSubnets } from "./known-network.ts";

/** What decides about one address. Of the hosts' assignments and the addresses, those that concern it. */
interface StandingWord extends Pick<KnownNetwork, "assignments" | "byAddress"> {
  readonly subnets: AcceptingSubnets;
}

export interface AddressStanding {
  at(address: string): StandingWord;
  /**
   * Whether a credential that was given an address to begin with may still go there.
   * @param isTaken whether the scan has taken the credential's addresses from it, as one that commits does
   */
  isNamed(credentialId: string, address: string, isTaken: boolean): boolean;
  /** What `find` found, until anything is committed by anybody. */
  untilCommit(name: string, find: () => boolean): boolean;
}

/** What is the same for all addresses. */
interface NetworkWord {
  /** The transaction that it was read after. */
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
   * A scan's own writes move the ledger all the time: what they wrote is looked through once, and the network is read
   * again only for what can change the answer.
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
 * By the address: all of a network are far more than share a value. In the order of their making, and of the
 * credentials.
 */
const AT_ADDRESS = `SELECT r.id, h.id, c.id, json_extract('{' || a.members || '}', '$.ip_address_ids'),
    EXISTS (SELECT 1 FROM credential_coverage v WHERE v.assignment_n = a.n AND v.ip_address = i.ip_address
      AND v.until IS NULL)
  FROM ip_addresses i CROSS JOIN credential_assignments a ON a.host_n = i.host_n
    JOIN history_records r ON r.n = i.n JOIN history_records h ON h.n = i.host_n
      JOIN history_records c ON c.n = a.credential_n
  WHERE i.ip_address = ?2 AND +i.network_n = ?1 ORDER BY i.n, a.credential_n, a.n`;
/** The addresses that it is given now, and whether it is assigned, but not in this network. */
const NAMED = `SELECT json_extract('{' || c.members || '}', '$.target_ips'),
    EXISTS (SELECT 1 FROM credential_assignments a WHERE a.credential_n = c.n)
      AND NOT EXISTS (SELECT 1 FROM credential_assignments a WHERE a.credential_n = c.n AND a.network_n = ?1)
  FROM credentials c JOIN history_records r ON r.n = c.n WHERE r.id = ?2`;
