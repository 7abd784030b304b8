// Detector for writes that only reduce permissions, which need not queue behind others. Looks at the net changes of the
// transaction, regardless of the author.

import { atLeast, reachesEveryNetwork } from "../access/role.ts";
import { type Cidr, cidrContains, parseCidr } from "../base/ip.ts";
import type { NetChange, WriteTransaction } from "../db/writing/transaction.ts";
import { type ApiKeyRecord, apiKeyKind } from "../resources/api-keys/api-key.ts";
import { type UserRecord, userKind } from "../resources/users/user.ts";

/** Fields whose change can reduce permissions; `password` and `key` revoke the old sessions and the old secret. */
const USER_RIGHTS: ReadonlySet<string> = new Set(["is_enabled", "role", "network_ids", "password"]);
const KEY_RIGHTS: ReadonlySet<string> = new Set(
  "is_enabled permissions expires_at all_networks network_ids allowed_sources key".split(" "),
);

/** Whether a transaction grants nothing and changes nothing except permissions. */
export function reducesPermissions(tx: WriteTransaction): boolean {
  return tx.netChanges().every(isLowering);
}

function isLowering({ kind, changed, before, after }: NetChange): boolean {
  const [isUser, isKey] = [kind.code === userKind.code, kind.code === apiKeyKind.code];
  if (!(isUser || isKey) || before === null) return false;
  if (after === null) return true;
  if (!(changed ?? []).every((field) => (isUser ? USER_RIGHTS : KEY_RIGHTS).has(field))) return false;
  return isUser
    ? isLesserUser(before as UserRecord, after as UserRecord)
    : isLesserKey(before as ApiKeyRecord, after as ApiKeyRecord);
}

function isLesserUser(before: UserRecord, after: UserRecord): boolean {
  const isReachLesser =
    reachesEveryNetwork(before.role) ||
    (!reachesEveryNetwork(after.role) && isWithin(after.network_ids, before.network_ids));
  return isReachLesser && isNoMoreEnabled(before, after) && atLeast(before.role, after.role);
}

function isLesserKey(before: ApiKeyRecord, after: ApiKeyRecord): boolean {
  const isReachLesser = before.all_networks || (!after.all_networks && isWithin(after.network_ids, before.network_ids));
  const expiresNoLater =
    before.expires_at === null || (after.expires_at !== null && after.expires_at <= before.expires_at);
  return (
    isReachLesser &&
    expiresNoLater &&
    isSubset(before.allowed_sources, after.allowed_sources) &&
    before.user_id === after.user_id &&
    isNoMoreEnabled(before, after) &&
    atLeast(before.permissions, after.permissions)
  );
}

function isNoMoreEnabled(before: { readonly is_enabled: boolean }, after: { readonly is_enabled: boolean }): boolean {
  return before.is_enabled || !after.is_enabled;
}

/** Whether every block is within a previous one. */
function isSubset(before: readonly string[] | null, after: readonly string[] | null): boolean {
  if (before === null || after === null) return before === null;
  const blocks = before.map((text) => parseCidr(text) as Cidr);
  return after.every((text) => {
    const block = parseCidr(text) as Cidr;
    return blocks.some((outer) => outer.prefixLength <= block.prefixLength && cidrContains(outer, block));
  });
}

function isWithin(ids: readonly string[], others: readonly string[]): boolean {
  return ids.every((id) => others.includes(id));
}
