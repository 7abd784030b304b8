// Which credentials are tried at an address, and in which order: what was named for it, what is assigned to the host there and the
// address, to the host, to the network. Only where an Admin has sent them. Pure, but for the opening of the secrets, which is somebody else's.

import type { SnmpCredential } from "../snmp/credential.ts";
import type { WorkingCredential } from "../sightings.ts";
import type { KnownAddress, KnownNetwork } from "./known-network.ts";
import type { OpenedCredential } from "./opened-credentials.ts";
import type { Refusal } from "./probes.ts";

/** What an address is asked with. */
export interface Choice {
  readonly credentials: readonly SnmpCredential[];
  /** Those that cannot be used. */
  readonly refused: readonly Refusal[];
  /** What opened it the last time, where that is among them. */
  readonly remembered: WorkingCredential | null;
  /** Why it is not asked with more; null where nothing is held back. */
  readonly withheld: Withheld | null;
}

/** Credentials that are assigned, and that no Admin has sent to an address. */
export interface Withheld {
  /** The address as hosts have it whose credentials wait for its confirmation. */
  readonly waiting: readonly KnownAddress[];
  /** Whether the network's credentials stay away, since nobody lets them go there. */
  readonly isOutside: boolean;
}

/** What of a network decides about its credentials. */
export type CredentialNetwork = Pick<KnownNetwork, "byAddress" | "assignments" | "remembered">;

export class Credentials {
  private readonly network: CredentialNetwork;
  private readonly open: (id: string) => OpenedCredential | null;
  private readonly accepts: (address: string) => boolean;
  /** Credentials by an address that they were given to begin with. */
  private readonly named = new Map<string, string[]>();
  private readonly broadcast: readonly string[];
  private readonly ofHost = new Map<
    string,
    Array<{ readonly id: string; readonly addressIds: readonly string[] | null; readonly covered: ReadonlySet<string> }>
  >();

  /**
   * @param targetIps addresses that credentials were given to begin with
   * @param open opens a credential; null for one that is gone
   * @param accepts whether an address is one that the network's credentials may be sent to
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
      for (const address of ip_addresses) this.named.set(address, [...(this.named.get(address) ?? []), credential_id]);
    this.broadcast = network.assignments.flatMap((each) => (each.host_id === null ? [each.credential_id] : []));
    for (const { host_id, credential_id: id, ip_address_ids: addressIds, covered } of network.assignments) {
      if (host_id !== null)
        this.ofHost.set(host_id, [...(this.ofHost.get(host_id) ?? []), { id, addressIds, covered }]);
    }
  }

  /** Whether there is nothing at all to ask anybody with. */
  get isEmpty(): boolean {
    return this.network.assignments.length === 0 && this.named.size === 0;
  }

  /** Whether a host has a credential of its own. */
  isOwn(hostId: string): boolean {
    return this.ofHost.has(hostId);
  }

  at(address: string): Choice {
    const { ids, withheld } = this.meantFor(address);
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

  /** From the most to the least precise, each once, and what is held back. */
  private meantFor(address: string): { readonly ids: readonly string[]; readonly withheld: Withheld | null } {
    const atAddress: string[] = [];
    const atHost: string[] = [];
    const waiting: Array<{ readonly id: string; readonly at: KnownAddress }> = [];
    for (const at of this.network.byAddress.get(address) ?? []) {
      for (const { id, addressIds, covered } of this.ofHost.get(at.host_id) ?? []) {
        if (addressIds !== null && !addressIds.includes(at.id)) continue;
        if (!covered.has(address)) waiting.push({ id, at });
        else if (addressIds === null) atHost.push(id);
        else atAddress.push(id);
      }
    }
    const isOutside = this.broadcast.length > 0 && !this.accepts(address);
    const ids = new Set([
      ...(this.named.get(address) ?? []),
      ...atAddress,
      ...atHost,
      ...(isOutside ? [] : this.broadcast),
    ]);
    const heldBack = new Set(waiting.filter(({ id }) => !ids.has(id)).map(({ at }) => at));
    const isHeldBack = heldBack.size > 0 || (isOutside && this.broadcast.some((id) => !ids.has(id)));
    return { ids: [...ids], withheld: isHeldBack ? { waiting: [...heldBack], isOutside } : null };
  }
}
