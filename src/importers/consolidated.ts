// Current host lookup for a device whose host was consolidated here.

import type { ImportRun } from "./import-run.ts";
import type { LedgerRecord } from "./ledger.ts";
import { isReasonOf } from "./local-changes.ts";

/** Maximum chain of consolidations; real chains are shorter. */
const HOSTS_MAX = 20;

/**
 * Finds the host into which a device's host was consolidated.
 * @param id the device's own host, which no longer exists
 * @returns null if there is none: the host was deleted or never existed. "AnotherDevice" if that host belongs to
 * another device of the source, which then describes it
 * @throws RemoteError
 */
export async function consolidatedHost(run: ImportRun, id: string): Promise<LedgerRecord | "AnotherDevice" | null> {
  const { ledger, isRepeated: isAgain, source } = run;
  if (!isAgain) return null;
  let last = id;
  for (let hosts = 0; hosts < HOSTS_MAX; hosts += 1) {
    const [version] = await ledger.history("/hosts", last, 1);
    const into = version?.operation === "Deleted" ? version.record.consolidated_into : null;
    if (typeof into !== "string") break;
    last = into;
  }
  if (last === id) return null;
  const host = (await ledger.byIds("/hosts", [last])).get(last) ?? null;
  if (host === null) return null;
  const creations = await ledger.history("/hosts", last, HOSTS_MAX, 0, 'operation = "Created"');
  const creation = creations.find(({ record }) => record.id === last);
  return isReasonOf(creation?.transaction.reason, source.reason) ? "AnotherDevice" : host;
}
