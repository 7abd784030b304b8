// A scan in a few words: its scope, its state, how far it is, what it wrote.

import type { DataOf } from "../api/client.ts";
import { discoveryText } from "../text/discovery.ts";
import { formatDuration, parseInstant } from "../time/instant.ts";

export type ScanData = DataOf<"/api/v1/discovery/scans/{id}">;
type RecordCounts = NonNullable<ScanData["outcome"]>["records"];

/** More are behind a click. */
const TARGETS_SHOWN = 8;

/** Whether it is still to change. */
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

/** By a word, a shape and a colour. */
export function ScanState({ scan }: { readonly scan: ScanData }) {
  return (
    <>
      <span class={`state ${STATES[scan.status] ?? "state-other"}`}>{scan.status}</span>
      {!scan.commit && <span class="label">{discoveryText.dryRun}</span>}
    </>
  );
}

/** A bar with its words. */
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

/** `31 hosts added, 2 interfaces changed`, each kind in a line of its own. */
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

/** How long it took; null while that is not known. */
export function lengthOf({ started_at, ended_at }: ScanData): string | null {
  const from = started_at === null ? null : parseInstant(started_at);
  const to = ended_at === null ? null : parseInstant(ended_at);
  return from === null || to === null ? null : formatDuration(to - from);
}
