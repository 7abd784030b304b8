// Required change reason, if the organization demands one, for every change by a user or an API key through any
// channel. Checked within the writing transaction. Independent of commands.

import { type DomainError, invalid } from "../../base/errors.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { organizationKind } from "./organization.ts";

/** The error for a write without the required change reason; else null. Scans and the appliance itself need none. */
export function missingReasonError(tx: WriteTransaction): DomainError | null {
  const { type, reason, organizationId } = tx.author;
  if ((type !== "User" && type !== "ApiKey") || typeof reason === "string" || organizationId === null) return null;
  if (tx.find(organizationKind, organizationId)?.require_change_reason !== true) return null;
  return invalid([
    { path: "/X-Change-Reason", message: "is required: your organization requires a reason for every change" },
  ]);
}
