// Location timeline of a station: evaluates locate at each transaction that may change its result, and merges equal
// consecutive results. A long read, step by step.

import { formatInstant } from "../../base/instant.ts";
import { longRead, PAUSE, pausing, utf8 } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { metaAt, thinnedUntilMember } from "../../schemas/envelope.ts";
import { ChangeSeeker, Dependencies, type RelevantFields } from "../change-seeker.ts";
import { type LocateQuery, locationAt, visibilityOf } from "./locate.ts";
import type { Candidate, Interval, PresentLocation } from "./locate-schema.ts";

/** Maximum transactions evaluated per timeline; beyond it the response is truncated and says so. */
export const TIMELINE_POINTS_MAX = 1_000;

export interface TimelineInput extends LocateQuery {
  /** Start of the range as shown in the response, and its transaction; null for the start of the ledger. */
  readonly from: { readonly at: string; readonly sequence: number } | null;
  /** End of the range; null for the present. */
  readonly to: string | null;
  /** The last transaction before the end. */
  readonly until: number;
}

const INTERFACE_FIELDS =
  `if_index if_descr if_name if_type mac_address ip_address_id admin_status oper_status native_vlan_id vlan_ids
  neighbor more_neighbors lag_id parent_id lldp_chassis_id lldp_port_id lldp_sys_name lldp_sys_desc lldp_mgmt_addr lldp_capabilities
  cdp_device_id cdp_port_id cdp_platform cdp_address cdp_capabilities`.split(/\s+/);

/** Fields that locate uses; changes to other fields have no effect. */
const RELEVANT_FIELDS: RelevantFields = {
  host: ["name", "hostname", "sys_name", "chassis_id", "device_type"],
  ip_address: ["ip_address", "mac_address", "subnet_id", "position"],
  if_entry: INTERFACE_FIELDS,
  fdb_entry: ["mac_address", "vlan_number"],
  subnet: ["vlan_id"],
  vlan: ["number"],
};

type TimelineLocation = Omit<Interval, "from" | "to">;

/** Response envelope, with intervals streamed as they are found. */
export const locateTimeline = longRead("locate_timeline", function* (reader: Reader, input: TimelineInput) {
  const { term, from, to } = input;
  yield utf8(
    `{"success":true,"data":{"asked":${JSON.stringify(term)},"from":${JSON.stringify(from?.at ?? null)},"intervals":[`,
  );
  let isFirst = true;
  let next: string | null = null;
  for (const step of intervals(reader, input)) {
    if (step instanceof Uint8Array) yield step;
    else if (typeof step === "string") next = step;
    else {
      yield utf8((isFirst ? "" : ",") + JSON.stringify(step));
      isFirst = false;
    }
  }
  yield utf8(
    `],"to":${JSON.stringify(to)},"truncated":${next !== null},"next_from":${JSON.stringify(next)}},"meta":${metaAt(null, thinnedUntilMember(reader.thinnedHistory.incompleteUntil(from?.sequence ?? 0)))}}\n`,
  );
});

/** Intervals in order; PAUSE between steps; if truncated, finally the timestamp from which to continue. */
function* intervals(reader: Reader, input: TimelineInput): Generator<Interval | string | Uint8Array> {
  const { term, from, to, until } = input;
  const visibility = visibilityOf(reader, input);
  const seeker = new ChangeSeeker(reader, visibility, until, RELEVANT_FIELDS);
  let open: { readonly from: string; readonly location: TimelineLocation } | null = null;
  let sequence = from?.sequence ?? 0;
  let at = from?.at ?? null;
  for (let points = 1; ; points += 1) {
    const dependencies = new Dependencies();
    const location = locationOf(yield* pausing(locationAt(reader, term, sequence, visibility, dependencies)));
    if (open !== null && (location === null || !isSame(open.location, location))) {
      yield { from: open.from, to: at, ...open.location };
      open = null;
    }
    // Nothing is known before the first transaction.
    if (open === null && location !== null && at !== null) open = { from: at, location };
    yield PAUSE;
    const found: number | null = yield* pausing(seeker.next(dependencies, sequence));
    // In thinned history, the state is complete only at a retained transaction.
    const next: number | null = found === null ? null : reader.thinnedHistory.firstCompleteFrom(found);
    const nextAt: string | null = next === null ? to : instantOf(reader, next);
    if (next === null || points === TIMELINE_POINTS_MAX) {
      if (open !== null) yield { from: open.from, to: nextAt, ...open.location };
      if (next !== null && nextAt !== null) yield nextAt;
      return;
    }
    sequence = next;
    at = nextAt;
  }
}

/** Location of the most likely candidate; null if there is none. */
function locationOf({ candidates }: PresentLocation): TimelineLocation | null {
  const [first] = candidates;
  if (first === undefined) return null;
  const { explanation: _explanation, subnet: _subnet, evidence: _evidence, ...shown } = first;
  return { ...shown, port: portOf(first), others: candidates.length - 1 };
}

function portOf({ port }: Candidate): Interval["port"] {
  if (port === null) return null;
  const { id, name, if_index, if_descr, role } = port;
  return { id, name, if_index, if_descr, role };
}

/** Compares by id; an interval shows the names at its start. */
function isSame(left: TimelineLocation, right: TimelineLocation): boolean {
  return Bun.deepEquals(comparedFields(left), comparedFields(right));
}

function comparedFields(location: TimelineLocation): unknown[] {
  const { host, ip_address, switch: device, port, behind, vlan } = location;
  const ids = [host, ip_address, device, port, behind, vlan].map((each) => each?.id);
  return [location.confidence, location.network_id, location.mac_address, ...ids, port?.role, vlan?.number];
}

function instantOf(reader: Reader, sequence: number): string {
  const text = "SELECT at FROM history_transactions WHERE sequence = +?";
  const [[at]] = reader.statement(text).values(sequence) as [[number]];
  return formatInstant(at);
}
