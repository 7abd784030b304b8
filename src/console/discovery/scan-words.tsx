// Short texts on a scan: scope, state, progress, written records.

import type { DataOf } from "../api/client.ts";
import { discoveryText } from "../text/discovery.ts";
import { formatDuration, parseInstant } from "../time/instant.ts";

export type ScanData = DataOf<"/api/v1/discovery/scans/{id}">;
type RecordCounts = NonNullable<ScanData["outcome"]>["records"];

/** Targets shown before the rest is collapsed. */
const TARGETS_SHOWN = 8;

/** Whether the scan is queued or running. */
export function isUnderWay({ status }: ScanData): boolean {
  return status === "Queued" || status === "Running";
}

export function Scope({ targets }: { readonly targets: readonly string[] | null }) {
  if (targets === null) return <>{discoveryText.wholeNetwork}</>;
  const rest = targets.slice(TARGETS_SHOWN);
  return (
    <>
      {targets.slice(0, TARGETS_SHOWN).join(", ")}
      {rest.length > 0 && (
        <details class="more">
          <summary>{discoveryText.moreTargets(rest.length)}</summary>
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

/** State by word, shape and color. */
export function ScanState({ scan }: { readonly scan: ScanData }) {
  return (
    <>
      <span class={`state ${STATES[scan.status] ?? "state-other"}`}>{scan.status}</span>
      {!scan.commit && <span class="label">{discoveryText.dryRun}</span>}
    </>
  );
}

/** Progress bar with text. */
export function ScanProgress({ scan: { progress } }: { readonly scan: ScanData }) {
  if (progress === null) return null;
  const { addresses_done, addresses_total, phase } = progress;
  const said = discoveryText.ofTotal(addresses_done, addresses_total);
  return (
    <span class="scan-progress">
      <progress max={Math.max(1, addresses_total)} value={addresses_done} aria-label={discoveryText.addresses} />{" "}
      <span class="aside">
        {said}, {discoveryText.phases[phase] ?? phase}
      </span>
    </span>
  );
}

/** `31 hosts added, 2 interfaces changed`, one line per kind. */
export function Counted({ records }: { readonly records: RecordCounts }) {
  const kinds = Object.entries(records).filter(([, counts]) => discoveryText.counts(counts) !== "");
  return (
    <>
      {kinds.map(([kind, counts]) => (
        <span class="counted" key={kind}>
          {discoveryText.recordKind(kind)}: {discoveryText.counts(counts)}
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
