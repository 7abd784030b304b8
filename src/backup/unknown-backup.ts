// What is answered for a backup that is not there: to whoever asks for it, and by the writer.

import { DomainError } from "../base/errors.ts";

export function noSuchBackup(name: string): DomainError {
  return new DomainError("entity_not_found", `There is no backup ${name}.`, { entity: "backup", id: name });
}
