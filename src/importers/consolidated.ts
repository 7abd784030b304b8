// Which host a device is by now, where people have made one of two here.

import type { Bringing } from "./bringing.ts";
import { isReasonOf } from "./changes-here.ts";
import type { LedgerRecord } from "./ledger.ts";

/** A host may go into one that goes into another; nobody does so often. */
const HOSTS_MAX = 20;

/**
 * The host that the host of a device went into.
 * @param id of the device's own host, which is not there
 * @returns null where it went into none: it was deleted, or never was; where it went into the host of another device of
 * the source, that device says what it is
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
