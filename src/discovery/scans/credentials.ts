// Credential selection per address, in this order: initial addresses, then credentials assigned to the host and
// address, to the host, and to the network. Limited to addresses that an Admin allows. Pure; opening secrets is
// injected.

import type { WorkingCredential } from "../sightings.ts";
import type { SnmpCredential } from "../snmp/credential.ts";
import type { KnownAddress, KnownNetwork } from "./known-network.ts";
import type { OpenedCredential } from "./opened-credentials.ts";
import type { Refusal } from "./probes.ts";

export interface Choice {
  readonly credentials: readonly SnmpCredential[];
  /** Unusable credentials. */
  readonly refused: readonly Refusal[];
  /** The credential that last opened the address, if among these. */
  readonly remembered: WorkingCredential | null;
  /** Null if nothing is withheld. */
  readonly withheld: Withheld | null;
}

/** Assigned credentials that no Admin allows at an address. */
export interface Withheld {
  /** The address on each host whose credentials await its approval. */
  readonly waiting: readonly KnownAddress[];
  /** True if the network's credentials are not allowed there. */
  readonly isOutside: boolean;
}

type CredentialNetwork = Pick<KnownNetwork, "byAddress" | "assignments" | "remembered">;

export class Credentials {
  private readonly network: CredentialNetwork;
  private readonly open: (id: string) => OpenedCredential | null;
  private readonly accepts: (address: string) => boolean;
  /** Credentials by first address. */
  private readonly byTargetIp = new Map<string, string[]>();
  private readonly networkWide: readonly string[];
  private readonly byHost = new Map<
    string,
    Array<{ readonly id: string; readonly addressIds: readonly string[] | null; readonly covered: ReadonlySet<string> }>
  >();

  /**
   * @param targetIps first addresses of credentials
   * @param open returns null for a deleted credential
   * @param accepts true if the network's credentials may be sent to an address
   */
  constructor(
    network: CredentialNetwork,
    targetIps: ReadonlyArray<{ readonly credential_id: string; readonly ip_addresses: readonly string[] }>,
    open: (id: string) => OpenedCredential | null,
    accepts: (address: string) => boolean,
  ) {
    this.network = network;
    this.open = open;
    this.accepts = accepts;
    for (const { credential_id, ip_addresses } of targetIps)
      for (const address of ip_addresses)
        this.byTargetIp.set(address, [...(this.byTargetIp.get(address) ?? []), credential_id]);
    this.networkWide = network.assignments.flatMap((each) => (each.host_id === null ? [each.credential_id] : []));
    for (const { host_id, credential_id: id, ip_address_ids: addressIds, covered } of network.assignments) {
      if (host_id !== null)
        this.byHost.set(host_id, [...(this.byHost.get(host_id) ?? []), { id, addressIds, covered }]);
    }
  }

  /** True if there are no credentials at all. */
  get isEmpty(): boolean {
    return this.network.assignments.length === 0 && this.byTargetIp.size === 0;
  }

  isOwn(hostId: string): boolean {
    return this.byHost.has(hostId);
  }

  at(address: string): Choice {
    const { ids, withheld } = this.candidatesFor(address);
    const known = this.network.remembered.get(address);
    const remembered = known !== undefined && ids.includes(known.credential_id) ? known : null;
    const ordered =
      remembered === null ? ids : [remembered.credential_id, ...ids.filter((id) => id !== remembered.credential_id)];
    const opened = ordered.map((id) => this.open(id)).filter((each) => each !== null);
    return {
      credentials: opened.flatMap((each) => (each.ok ? [each.credential] : [])),
      refused: opened.flatMap((each) => (each.ok ? [] : [each.refusal])),
      remembered,
      withheld,
    };
  }

  /** Most specific first, without duplicates. */
  private candidatesFor(address: string): { readonly ids: readonly string[]; readonly withheld: Withheld | null } {
    const atAddress: string[] = [];
    const atHost: string[] = [];
    const waiting: Array<{ readonly id: string; readonly at: KnownAddress }> = [];
    for (const at of this.network.byAddress.get(address) ?? []) {
      for (const { id, addressIds, covered } of this.byHost.get(at.host_id) ?? []) {
        if (addressIds !== null && !addressIds.includes(at.id)) continue;
        if (!covered.has(address)) waiting.push({ id, at });
        else if (addressIds === null) atHost.push(id);
        else atAddress.push(id);
      }
    }
    const isOutside = this.networkWide.length > 0 && !this.accepts(address);
    const ids = new Set([
      ...(this.byTargetIp.get(address) ?? []),
      ...atAddress,
      ...atHost,
      ...(isOutside ? [] : this.networkWide),
    ]);
    const withheldAddresses = new Set(waiting.filter(({ id }) => !ids.has(id)).map(({ at }) => at));
    const isWithheld = withheldAddresses.size > 0 || (isOutside && this.networkWide.some((id) => !ids.has(id)));
    return { ids: [...ids], withheld: isWithheld ? { waiting: [...withheldAddresses], isOutside } : null };
  }
}
