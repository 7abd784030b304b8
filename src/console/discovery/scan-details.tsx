// Scan details in short form: scope, state, progress, written records.

import type { DataOf } from "../api/client.ts";
import { apiPath, kindWords, RECORD_KINDS } from "../kinds/kinds.ts";
import { groupedDigits } from "../text/digits.ts";
import { discoveryText } from "../text/discovery.ts";
import { formatDuration, parseInstant } from "../time/instant.ts";

export type ScanData = DataOf<"/api/v1/discovery/scans/{id}">;
type RecordCounts = NonNullable<ScanData["outcome"]>["records"];

/** Number of targets shown; the rest is collapsed. */
const TARGETS_SHOWN = 8;

/** Whether the scan is queued or running. */
export function isActive({ status }: ScanData): boolean {
  return status === "Queued" || status === "Running";
}

export function Scope({ targets }: { readonly targets: readonly string[] | null }) {
  if (targets === null) return <>the network's subnets</>;
  const rest = targets.slice(TARGETS_SHOWN);
  return (
    <>
      {targets.slice(0, TARGETS_SHOWN).join(", ")}
      {rest.length > 0 && (
        <details class="more">
          <summary>and {rest.length} more</summary>
          {rest.join(", ")}
        </details>
      )}
    </>
  );
}

const STATES: Readonly<Record<string, string>> = {
  Completed: "state-up",
  Failed: "state-down",
  Running: "state-running",
};

/** State as a word, a shape and a color. */
export function ScanState({ scan }: { readonly scan: ScanData }) {
  return (
    <>
      <span class={`state ${STATES[scan.status] ?? "state-other"}`}>{scan.status}</span>
      {!scan.commit && <span class="label">dry run</span>}
    </>
  );
}

const PHASES: Readonly<Record<string, string>> = {
  dispatch: "preparing",
  target_ips: "querying the addresses of credentials",
  sweep: "finding responding addresses",
  snmp: "reading devices",
  follow: "following neighbors",
  links: "building links",
  stale: "marking stale records",
  done: "done",
};

/** Progress bar with text. */
export function ScanProgress({ scan: { progress } }: { readonly scan: ScanData }) {
  if (progress === null) return null;
  const { addresses_done, addresses_total, phase } = progress;
  const text = `${groupedDigits(addresses_done)} of ${groupedDigits(addresses_total)}`;
  return (
    <span class="scan-progress">
      <progress max={Math.max(1, addresses_total)} value={addresses_done} aria-label="Addresses" />{" "}
      <span class="aside">
        {text}, {PHASES[phase] ?? phase}
      </span>
    </span>
  );
}

/** Words for a record kind in scan counts. @param plural its name in the API */
const recordKindText = (plural: string) => {
  const kind = RECORD_KINDS.find((candidate) => apiPath(candidate).endsWith(`/${plural.replaceAll("_", "-")}`));
  if (kind !== undefined) return kindWords(kind)[1];
  return plural === "fdb_entries" ? "forwarding entries" : plural.replaceAll("_", " ");
};

/** `31 hosts added, 2 interfaces changed`, one line per kind. */
export function WrittenRecords({ records }: { readonly records: RecordCounts }) {
  const kinds = Object.entries(records).filter(([, counts]) => discoveryText.counts(counts) !== "");
  return (
    <>
      {kinds.map(([kind, counts]) => (
        <span class="counted" key={kind}>
          {recordKindText(kind)}: {discoveryText.counts(counts)}
        </span>
      ))}
    </>
  );
}

/** Duration of the scan; null while unknown. */
export function lengthOf({ started_at, ended_at }: ScanData): string | null {
  const from = started_at === null ? null : parseInstant(started_at);
  const to = ended_at === null ? null : parseInstant(ended_at);
  return from === null || to === null ? null : formatDuration(to - from);
}
