// What is answered for a verification that cannot be cancelled: because there is none, or because it has ended.

import { DomainError, notFound } from "../base/errors.ts";
import type { Verification } from "./verification.ts";

/**
 * @param status null where there is none
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
