// Access to operations on the entire appliance: only for a signed-in Owner, and only without a second organization,
// whose secrets and records they would expose.

import { DomainError } from "../base/errors.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { Access } from "./actor.ts";

export const OF_WHOLE_APPLIANCE: Access = { role: "Owner", sessionOnly: true, ofWholeAppliance: true };

/** @throws DomainError auth_permission_denied if the appliance has several organizations */
export function assertOnlyOrganization(reader: Reader): void {
  const [[count] = [0]] = reader.statement("SELECT count(*) FROM organizations").values() as Array<[number]>;
  if (count > 1)
    throw new DomainError(
      "auth_permission_denied",
      "This operation affects the entire appliance, which has several organizations: use the command line instead.",
      {},
    );
}
