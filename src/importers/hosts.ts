// Bulk writes of hosts with their children; items that the API refuses are dropped and the rest is written.

import type { Bringing } from "./bringing.ts";
import { consolidatedHost } from "./consolidated.ts";
import { draftHost, type HostDraft, namesVlans } from "./host-drafts.ts";
import type { LedgerIssue, LedgerRecord } from "./ledger.ts";
import { orRefusal } from "./or-refusal.ts";
import { planLine } from "./plan.ts";
import { isRefused, type WantedHost } from "./wanted.ts";

/** Interface entries and addresses per request: keeps each write short. */
const PARTS_MAX = 10_000;
/** Maximum retries for hosts changed in the meantime. */
const TURNS_MAX = 3;

/** @throws RemoteTrouble */
export async function bringHosts(bringing: Bringing, hosts: readonly WantedHost[]): Promise<void> {
  const seen = new Set<string>();
  let open = hosts.filter(({ id, url }) => {
    if (!seen.has(id)) return seen.add(id);
    bringing.plan.refuse("hosts", url, "is listed twice");
    return false;
  });
  for (let turn = 1; open.length > 0; turn += 1) {
    const existing = await bringing.ledger.byIds(
      "/hosts",
      open.map((each) => each.id),
    );
    open = await whereThereIsAHost(bringing, open, existing);
    const withVlans = open
      .filter(({ id }) => existing.has(id))
      .flatMap(({ interfaces }) => interfaces.filter(namesVlans));
    const entries = await bringing.ledger.byIds(
      "/if-entries",
      withVlans.map((each) => each.id),
    );
    const drafts: HostDraft[] = [];
    for (const each of open) {
      const draft = await orRefusal(each.url, () => draftHost(bringing, each, existing.get(each.id) ?? null, entries));
      if (draft === null) continue;
      if (isRefused(draft)) bringing.plan.refuse("hosts", draft.url, draft.refused);
      else if (draft.item === null) bringing.plan.take(draft.tally);
      else drafts.push(draft);
    }
    const stale: WantedHost[] = [];
    for (const some of portions(drafts)) stale.push(...(await writePortion(bringing, some, turn < TURNS_MAX)));
    open = stale;
  }
}

/**
 * Looks up the successors of missing hosts and adds them to the existing ones.
 * @returns the devices, except those described by another device
 */
async function whereThereIsAHost(
  bringing: Bringing,
  hosts: readonly WantedHost[],
  existing: Map<string, LedgerRecord>,
): Promise<WantedHost[]> {
  const left: WantedHost[] = [];
  for (const wanted of hosts) {
    const found = existing.has(wanted.id) ? null : await consolidatedHost(bringing, wanted.id);
    const speaker = found === null || found === "AnotherDevice" ? wanted.id : bringing.consolidated.get(found.id);
    if (found === "AnotherDevice" || (speaker ?? wanted.id) !== wanted.id) {
      bringing.plan.add(
        "hosts",
        "kept",
        `${planLine(wanted.name, wanted.url)} is consolidated here with another device`,
      );
      continue;
    }
    if (found !== null) {
      bringing.consolidated.set(found.id, wanted.id);
      existing.set(wanted.id, found);
    }
    left.push(wanted);
  }
  return left;
}

/** Splits drafts into portions small enough for one request. */
function* portions(drafts: readonly HostDraft[]): Generator<HostDraft[]> {
  let portion: HostDraft[] = [];
  let parts = 0;
  for (const draft of drafts) {
    const size = 1 + (draft.item?.interfaces?.length ?? 0) + (draft.item?.ip_addresses?.length ?? 0);
    if (portion.length > 0 && parts + size > PARTS_MAX) {
      yield portion;
      portion = [];
      parts = 0;
    }
    portion.push(draft);
    parts += size;
  }
  if (portion.length > 0) yield portion;
}

/** @returns hosts changed since they were read, to be retried */
async function writePortion(
  { ledger, plan }: Bringing,
  portion: readonly HostDraft[],
  mayRepeat: boolean,
): Promise<WantedHost[]> {
  let left = portion;
  const stale: WantedHost[] = [];
  while (left.length > 0) {
    const outcome = await ledger.write(
      "POST",
      "/hosts/bulk",
      left.map((each) => each.item),
    );
    if ("data" in outcome) {
      for (const { tally } of left) plan.take(tally);
      return stale;
    }
    const { refusal } = outcome;
    const issues = Map.groupBy(refusal.issues, placeOf);
    if (![...issues.keys()].some((place) => place < left.length)) {
      for (const { wanted } of left) plan.refuse("hosts", wanted.url, refusal.message);
      return stale;
    }
    for (const [place, some] of issues) {
      const wanted = left[place]?.wanted;
      if (wanted === undefined) continue;
      if (mayRepeat && some.every(({ code }) => code === "entity_stale")) stale.push(wanted);
      else plan.refuse("hosts", wanted.url, some.map((each) => each.message).join("; "));
    }
    left = left.filter((_, place) => !issues.has(place));
  }
  return stale;
}

/** Index of the item that an issue refers to: `/12/name`. */
function placeOf({ path }: LedgerIssue): number {
  return Number(/^\/(\d+)/.exec(path)?.[1] ?? Number.POSITIVE_INFINITY);
}
