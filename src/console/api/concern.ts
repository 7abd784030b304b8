// Which changes concern a page. Plain data and functions.

/** One version that was written. */
export interface LiveChange {
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** As the feed names kinds: `ip_address`. */
  readonly type: string;
  readonly operation: "Created" | "Updated" | "Deleted";
  readonly id: string;
  /** Of a host itself its own id. */
  readonly hostId: string | null;
  readonly networkId: string | null;
}

/** Which changes a page shows; what is left out is any. */
export interface Concern {
  /** As the feed names kinds: `ip_address`. */
  readonly types?: readonly string[] | undefined;
  readonly network_id?: string | null | undefined;
  /** The host and its parts. */
  readonly host_id?: string | undefined;
  /** This record alone. */
  readonly id?: string | undefined;
}

/** Whether a change is one of these. */
export function concerns({ types, network_id, host_id, id }: Concern, change: LiveChange): boolean {
  if (types !== undefined && !types.includes(change.type)) return false;
  if (id !== undefined && change.id !== id) return false;
  if (host_id !== undefined && change.hostId !== host_id) return false;
  // What belongs to no network, such as a tag, is shown in every one.
  return network_id === undefined || network_id === null || [null, network_id].includes(change.networkId);
}
