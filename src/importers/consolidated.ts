// Lookup of the current host of a device, after its host was consolidated here.

import type { Bringing } from "./bringing.ts";
import { isReasonOf } from "./changes-here.ts";
import type { LedgerRecord } from "./ledger.ts";

/** Maximum chain of consolidations; real chains are shorter. */
const HOSTS_MAX = 20;

/**
 * Finds the host into which a device's host was consolidated.
 * @param id the device's own host, which no longer exists
 * @returns null if there is none: the host was deleted or never existed. "AnotherDevice" if that host belongs to
 * another device of the source, which then describes it
 * @throws RemoteTrouble
 */
export async function consolidatedHost(bringing: Bringing, id: string): Promise<LedgerRecord | "AnotherDevice" | null> {
  const { ledger, isAgain, source } = bringing;
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
  const made = await ledger.history("/hosts", last, HOSTS_MAX, 0, 'operation = "Created"');
  const own = made.find(({ record }) => record.id === last);
  return isReasonOf(own?.transaction.reason, source.reason) ? "AnotherDevice" : host;
}
