// Appliance warning: severity, description, remedy, and a link to the page where it can be resolved.

import type { DataOf } from "../api/client.ts";
import { hrefOf, pathname } from "../url/location.ts";

export type ApplianceConcern = DataOf<"/api/v1/appliance">["concerns"][number];

const APPLIANCE = "/settings/appliance";

export const SEVERITIES: Readonly<Record<ApplianceConcern["severity"], string>> = {
  error: "Error",
  warning: "Warning",
};

/** Page where a concern can be resolved or inspected. @returns its path and URL parameters */
export function pageOfConcern(
  code: ApplianceConcern["code"],
): readonly [path: string, parameters?: Readonly<Record<string, string>>] {
  if (code.startsWith("disk_") || code.startsWith("backup_") || code === "no_room_for_backup")
    return ["/settings/backups"];
  if (code.startsWith("verification_") || code === "data_damaged") return ["/ledger"];
  if (code === "errors_logged") return ["/settings/log", { level: "error" }];
  return [APPLIANCE];
}

/** Remedies by concern code. */
const REMEDIES: Readonly<Record<string, string>> = {
  disk_full: "Free space on that disk, for example by deleting old backups, or prune history.",
  disk_low: "Free space on that disk, for example by deleting old backups, or prune history.",
  no_room_for_backup: "Delete old backups, or write one to another disk with netledger backup.",
  memory_low: "Check what else runs on the machine, or add memory.",
  log_large: "Temporary while a backup, verification or scan runs.",
  writes_delayed: "Temporary while a bulk write or import runs.",
  backup_missing: "Take a backup.",
  backup_old: "Take a backup.",
  backup_failed: "Take another backup.",
  backup_damaged: "Delete it and take another backup.",
  verification_missing: "Verify the data.",
  verification_failed: "Check the reason and verify again.",
  data_damaged: "Check the findings and restore an earlier backup.",
  certificate_expired: "Replace the certificate files; the new ones are loaded within a minute.",
  certificate_not_yet_valid: "Set the clock, or replace the certificate files.",
  certificate_expires: "Replace the certificate files; the new ones are loaded within a minute.",
  clock_ahead: "Set the clock. Nothing is lost.",
  clock_not_synchronized: "Run timedatectl set-ntp true on the machine.",
  errors_logged: "Review the log.",
};

export function ConcernLine({ concern: { code, severity, message } }: { readonly concern: ApplianceConcern }) {
  const [path, parameters] = pageOfConcern(code);
  return (
    <li>
      <span class={`state state-${severity === "error" ? "down" : "warning"}`}>{SEVERITIES[severity]}</span>{" "}
      {path === pathname.value ? message : <a href={hrefOf(path, { at: null, ...parameters })}>{message}</a>}{" "}
      <span class="aside">{REMEDIES[code]}</span>
    </li>
  );
}
