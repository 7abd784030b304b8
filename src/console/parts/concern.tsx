// Appliance concern: severity in a word, description, remedy, and a link to the page that resolves it.

import type { DataOf } from "../api/client.ts";
import { hrefOf, pathname } from "../url/location.ts";

export type ApplianceConcern = DataOf<"/api/v1/appliance">["concerns"][number];

const APPLIANCE = "/settings/appliance";

export const SEVERITIES: Readonly<Record<ApplianceConcern["severity"], string>> = {
  error: "Error",
  warning: "Warning",
};

/** Page that resolves or shows the concern. @returns a path with its parameters */
export function pageOfConcern(
  code: ApplianceConcern["code"],
): readonly [path: string, parameters?: Readonly<Record<string, string>>] {
  if (code.startsWith("disk_") || code.startsWith("backup_") || code === "no_room_for_backup")
    return ["/settings/backups"];
  if (code.startsWith("verification_") || code === "data_damaged") return ["/ledger"];
  if (code === "errors_logged") return ["/settings/log", { level: "error" }];
  return [APPLIANCE];
}

/** By code of the concern. */
const REMEDIES: Readonly<Record<string, string>> = {
  disk_full: "Delete what is not needed on that disk, such as old backups, or prune history.",
  disk_low: "Delete what is not needed on that disk, such as old backups, or prune history.",
  no_room_for_backup: "Delete old backups, or take one to another disk with netledger backup.",
  memory_low: "See what else runs on the machine, or give it more.",
  log_large: "See whether a backup, a verification or a scan is under way; it passes.",
  writes_delayed: "See which bulk write or import is under way; it passes.",
  backup_missing: "Take one.",
  backup_old: "Take one.",
  backup_failed: "Take one again.",
  backup_damaged: "Delete it, and take another one.",
  verification_missing: "Have the data verified.",
  verification_failed: "See why, and have them verified again.",
  data_damaged: "See what was found, and restore a backup from before.",
  certificate_expired: "Replace its files: they are taken over within a minute.",
  certificate_not_yet_valid: "Set the clock, or replace its files.",
  certificate_expires: "Replace its files: they are taken over within a minute.",
  clock_ahead: "Set the clock. Nothing is lost.",
  clock_not_synchronized: "Run timedatectl set-ntp true on the machine.",
  errors_logged: "Read them.",
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
