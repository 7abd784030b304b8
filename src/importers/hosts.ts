// Bulk writes of hosts with their children; items that the API rejects are dropped, and the rest are written.

import { consolidatedHost } from "./consolidated.ts";
import { draftHost, type HostDraft, hasVlans } from "./host-drafts.ts";
import type { ImportRun } from "./import-run.ts";
import { type ImportedHost, isRefused } from "./imported-objects.ts";
import type { LedgerIssue, LedgerRecord } from "./ledger.ts";
import { catchRefusal } from "./or-refusal.ts";
import { planLine } from "./plan.ts";

/** Interface entries and addresses per request: keeps each write short. */
const PARTS_MAX = 10_000;
/** Maximum retries for hosts changed in the meantime. */
const ATTEMPTS_MAX = 3;

/** @throws RemoteError */
export async function importHosts(run: ImportRun, hosts: readonly ImportedHost[]): Promise<void> {
  const seen = new Set<string>();
  let pending = hosts.filter(({ id, url }) => {
    if (!seen.has(id)) return seen.add(id);
    run.plan.refuse("hosts", url, "is listed twice");
    return false;
  });
  for (let attempt = 1; pending.length > 0; attempt += 1) {
    const existing = await run.ledger.byIds(
      "/hosts",
      pending.map((each) => each.id),
    );
    pending = await withExistingHosts(run, pending, existing);
    const withVlans = pending
      .filter(({ id }) => existing.has(id))
      .flatMap(({ interfaces }) => interfaces.filter(hasVlans));
    const entries = await run.ledger.byIds(
      "/if-entries",
      withVlans.map((each) => each.id),
    );
    const drafts: HostDraft[] = [];
    for (const each of pending) {
      const draft = await catchRefusal(each.url, () => draftHost(run, each, existing.get(each.id) ?? null, entries));
      if (draft === null) continue;
      if (isRefused(draft)) run.plan.refuse("hosts", draft.url, draft.refused);
      else if (draft.item === null) run.plan.take(draft.tally);
      else drafts.push(draft);
    }
    const stale: ImportedHost[] = [];
    for (const some of batches(drafts)) stale.push(...(await writeBatch(run, some, attempt < ATTEMPTS_MAX)));
    pending = stale;
  }
}

/**
 * Looks up the successors of missing hosts and adds them to the existing ones.
 * @returns the devices, except those described by another device
 */
async function withExistingHosts(
  run: ImportRun,
  hosts: readonly ImportedHost[],
  existing: Map<string, LedgerRecord>,
): Promise<ImportedHost[]> {
  const remaining: ImportedHost[] = [];
  for (const wanted of hosts) {
    const found = existing.has(wanted.id) ? null : await consolidatedHost(run, wanted.id);
    const describedBy = found === null || found === "AnotherDevice" ? wanted.id : run.consolidated.get(found.id);
    if (found === "AnotherDevice" || (describedBy ?? wanted.id) !== wanted.id) {
      run.plan.add("hosts", "kept", `${planLine(wanted.name, wanted.url)} is consolidated here with another device`);
      continue;
    }
    if (found !== null) {
      run.consolidated.set(found.id, wanted.id);
      existing.set(wanted.id, found);
    }
    remaining.push(wanted);
  }
  return remaining;
}

/** Splits drafts into portions small enough for one request. */
function* batches(drafts: readonly HostDraft[]): Generator<HostDraft[]> {
  let batch: HostDraft[] = [];
  let parts = 0;
  for (const draft of drafts) {
    const size = 1 + (draft.item?.interfaces?.length ?? 0) + (draft.item?.ip_addresses?.length ?? 0);
    if (batch.length > 0 && parts + size > PARTS_MAX) {
      yield batch;
      batch = [];
      parts = 0;
    }
    batch.push(draft);
    parts += size;
  }
  if (batch.length > 0) yield batch;
}

/** @returns hosts changed since they were read, to be retried */
async function writeBatch(
  { ledger, plan }: ImportRun,
  batch: readonly HostDraft[],
  mayRetry: boolean,
): Promise<ImportedHost[]> {
  let remaining = batch;
  const stale: ImportedHost[] = [];
  while (remaining.length > 0) {
    const outcome = await ledger.write(
      "POST",
      "/hosts/bulk",
      remaining.map((each) => each.item),
    );
    if ("data" in outcome) {
      for (const { tally } of remaining) plan.take(tally);
      return stale;
    }
    const { refusal } = outcome;
    const issues = Map.groupBy(refusal.issues, indexOf);
    if (![...issues.keys()].some((index) => index < remaining.length)) {
      for (const { wanted } of remaining) plan.refuse("hosts", wanted.url, refusal.message);
      return stale;
    }
    for (const [index, some] of issues) {
      const wanted = remaining[index]?.wanted;
      if (wanted === undefined) continue;
      if (mayRetry && some.every(({ code }) => code === "entity_stale")) stale.push(wanted);
      else plan.refuse("hosts", wanted.url, some.map((each) => each.message).join("; "));
    }
    remaining = remaining.filter((_, index) => !issues.has(index));
  }
  return stale;
}

/** Index of the item that an issue refers to: `/12/name`. */
function indexOf({ path }: LedgerIssue): number {
  return Number(/^\/(\d+)/.exec(path)?.[1] ?? Number.POSITIVE_INFINITY);
}
