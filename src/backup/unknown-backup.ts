// Error for a missing backup, shared by routes and the writer.

import { DomainError } from "../base/errors.ts";

export function noSuchBackup(name: string): DomainError {
  return new DomainError("entity_not_found", `There is no backup ${name}.`, { entity: "backup", id: name });
}
