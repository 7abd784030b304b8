// Errors for a verification that cannot be canceled: it does not exist, or has ended.

import { DomainError, notFound } from "../base/errors.ts";
import type { Verification } from "./verification.ts";

/**
 * @param status null if it does not exist
 * @throws DomainError entity_not_found, entity_stale
 */
export function assertRunning(id: string, status: Verification["status"] | null): void {
  if (status === null) throw notFound({ name: "verification" }, id);
  if (status !== "Running")
    throw new DomainError("entity_stale", `The verification has already ended: ${status}.`, {
      entity: "verification",
      expected: "Running",
      actual: status,
    });
}
