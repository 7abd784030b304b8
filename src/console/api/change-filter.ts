// Filter for the changes that affect a page.

/** One version written to the ledger. */
export interface LiveChange {
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** Kind as in the change feed: `ip_address`. */
  readonly type: string;
  readonly operation: "Created" | "Updated" | "Deleted";
  readonly id: string;
  /** For a host, its own id. */
  readonly hostId: string | null;
  readonly networkId: string | null;
}

/** Changes that a page shows; omitted properties match any. */
export interface ChangeFilter {
  /** Kinds as in the change feed: `ip_address`. */
  readonly types?: readonly string[] | undefined;
  readonly network_id?: string | null | undefined;
  /** The host and its parts. */
  readonly host_id?: string | undefined;
  /** Only this record. */
  readonly id?: string | undefined;
  readonly operation?: LiveChange["operation"] | undefined;
}

/** Whether a change matches. */
export function matchesChange(
  { types, network_id, host_id, id, operation }: ChangeFilter,
  change: LiveChange,
): boolean {
  if (types !== undefined && !types.includes(change.type)) return false;
  if (id !== undefined && change.id !== id) return false;
  if (operation !== undefined && change.operation !== operation) return false;
  if (host_id !== undefined && change.hostId !== host_id) return false;
  // Records without a network, such as tags, appear in every network.
  return network_id === undefined || network_id === null || [null, network_id].includes(change.networkId);
}
