// Timeline of a station's locations: evaluates locate at each transaction that may change its answer, and merges equal
// neighbors. A long read, step by step.

import { formatInstant } from "../../base/instant.ts";
import { longRead, PAUSE } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { metaAt, thinnedUntilMember } from "../../schemas/envelope.ts";
import { ChangeSeeker, Grounds, type RelevantFields } from "../change-seeker.ts";
import type { Candidate, Interval, Location } from "./answer.ts";
import { type LocateQuery, locationAt, sightOf } from "./locate.ts";

/** Maximum transactions evaluated per timeline; beyond it the answer is truncated and says so. */
export const TIMELINE_POINTS_MAX = 1_000;

export interface TimelineInput extends LocateQuery {
  /** Start of the range as shown in the answer, and its transaction; null for the start of the ledger. */
  readonly from: { readonly at: string; readonly sequence: number } | null;
  /** End of the range; null for the present. */
  readonly to: string | null;
  /** The last transaction before the end. */
  readonly until: number;
}

/** Fields that locate uses; changes of other fields have no effect. */
const RELEVANT_FIELDS: RelevantFields = {
  host: ["name", "hostname", "sys_name", "chassis_id"],
  ip_address: ["ip_address", "mac_address", "subnet_id", "position"],
  if_entry: [
    ...[
      "if_index",
      "if_descr",
      "if_name",
      "if_type",
      "mac_address",
      "ip_address_id",
      "admin_status",
      "oper_status",
      "native_vlan_id",
      "vlan_ids",
      "neighbor",
    ],
    ...[
      "lldp_chassis_id",
      "lldp_port_id",
      "lldp_sys_name",
      "lldp_mgmt_addr",
      "cdp_device_id",
      "cdp_port_id",
      "cdp_address",
    ],
  ],
  fdb_entry: ["mac_address", "vlan_number"],
  subnet: ["vlan_id"],
  vlan: ["number"],
};

type TimelinePlace = Omit<Interval, "from" | "to">;

/** Response envelope, with intervals streamed as they are found. */
export const locateTimeline = longRead("locate_timeline", function* (reader: Reader, input: TimelineInput) {
  const { asked, from, to } = input;
  yield encoder.encode(
    `{"success":true,"data":{"asked":${JSON.stringify(asked)},"from":${JSON.stringify(from?.at ?? null)},"intervals":[`,
  );
  let isFirst = true;
  let next: string | null = null;
  for (const step of intervals(reader, input)) {
    if (step === null) yield PAUSE;
    else if (typeof step === "string") next = step;
    else {
      yield encoder.encode((isFirst ? "" : ",") + JSON.stringify(step));
      isFirst = false;
    }
  }
  yield encoder.encode(
    `],"to":${JSON.stringify(to)},"truncated":${next !== null},"next_from":${JSON.stringify(next)}},"meta":${metaAt(null, thinnedUntilMember(reader.thinnedPast.incompleteUntil(from?.sequence ?? 0)))}}\n`,
  );
});

/** Intervals in order; null between steps; if truncated, finally the timestamp from which to continue. */
function* intervals(reader: Reader, input: TimelineInput): Generator<Interval | string | null> {
  const { asked, from, to, until } = input;
  const sight = sightOf(reader, input);
  const seeker = new ChangeSeeker(reader, sight, until, RELEVANT_FIELDS);
  let open: { readonly from: string; readonly place: TimelinePlace } | null = null;
  let sequence = from?.sequence ?? 0;
  let at = from?.at ?? null;
  for (let points = 1; ; points += 1) {
    const grounds = new Grounds();
    const place = placeOf(yield* pausing(locationAt(reader, asked, sequence, sight, grounds)));
    if (open !== null && (place === null || !isSame(open.place, place))) {
      yield { from: open.from, to: at, ...open.place };
      open = null;
    }
    // Nothing is known before the first transaction.
    if (open === null && place !== null && at !== null) open = { from: at, place };
    yield null;
    const found: number | null = yield* pausing(seeker.next(grounds, sequence));
    // In thinned history, the state is complete only at a retained transaction.
    const next: number | null = found === null ? null : reader.thinnedPast.keptFrom(found);
    const nextAt: string | null = next === null ? to : instantOf(reader, next);
    if (next === null || points === TIMELINE_POINTS_MAX) {
      if (open !== null) yield { from: open.from, to: nextAt, ...open.place };
      if (next !== null && nextAt !== null) yield nextAt;
      return;
    }
    sequence = next;
    at = nextAt;
  }
}

function* pausing<T>(steps: Generator<void, T>): Generator<null, T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield null;
  }
}

/** Location of the most likely candidate; null if there is none. */
function placeOf({ candidates }: Location): TimelinePlace | null {
  const [first] = candidates;
  if (first === undefined) return null;
  const { confidence, network_id, host, ip_address, mac_address, switch: device, behind, vlan } = first;
  return {
    confidence,
    network_id,
    host,
    ip_address,
    mac_address,
    switch: device,
    port: portOf(first),
    behind,
    vlan,
    others: candidates.length - 1,
  };
}

function portOf({ port }: Candidate): Interval["port"] {
  if (port === null) return null;
  const { id, name, if_index, if_descr, role } = port;
  return { id, name, if_index, if_descr, role };
}

/** Compares by id; an interval shows the names at its start. */
function isSame(one: TimelinePlace, other: TimelinePlace): boolean {
  return Bun.deepEquals(marks(one), marks(other));
}

function marks({
  confidence,
  network_id,
  host,
  ip_address,
  mac_address,
  switch: device,
  port,
  behind,
  vlan,
}: TimelinePlace): unknown[] {
  return [
    confidence,
    network_id,
    host?.id,
    ip_address?.id,
    mac_address,
    device?.id,
    port?.id,
    port?.role,
    behind?.id,
    vlan?.id,
    vlan?.number,
  ];
}

function instantOf(reader: Reader, sequence: number): string {
  const [at] = reader.statement("SELECT at FROM history_transactions WHERE sequence = +?").values(sequence)[0] as [
    number,
  ];
  return formatInstant(at);
}

const encoder = new TextEncoder();
