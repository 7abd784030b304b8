// That every change says why, where the organization demands it: of what a user or an API key changes, however it is asked
// for. Asked within the transaction that writes. Must not know commands.

import { type DomainError, invalid } from "../../base/errors.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { organizationKind } from "./organization.ts";

/**
 * What a transaction is refused with that comes to a change, where its author has to say why and does not; else null.
 * Scans and the appliance itself need no reason.
 */
export function lackingReason(tx: WriteTransaction): DomainError | null {
  const { type, reason, organizationId } = tx.author;
  if ((type !== "User" && type !== "ApiKey") || typeof reason === "string" || organizationId === null) return null;
  if (tx.find(organizationKind, organizationId)?.require_change_reason !== true) return null;
  return invalid([
    { path: "/X-Change-Reason", message: "is missing: your organization demands a reason for every change" },
  ]);
}
