// Appliance concern: severity in a word, description, remedy, and a link to the page that resolves it.

import type { DataOf } from "../api/client.ts";
import { applianceText } from "../text/appliance.ts";
import { hrefOf, pathname } from "../url/location.ts";

export type ApplianceConcern = DataOf<"/api/v1/appliance">["concerns"][number];

const APPLIANCE = "/settings/appliance";

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

export function ConcernLine({ concern: { code, severity, message } }: { readonly concern: ApplianceConcern }) {
  const [path, parameters] = pageOfConcern(code);
  return (
    <li>
      <span class={`state state-${severity === "error" ? "down" : "warning"}`}>
        {applianceText.severities[severity]}
      </span>{" "}
      {path === pathname.value ? message : <a href={hrefOf(path, { at: null, ...parameters })}>{message}</a>}{" "}
      <span class="aside">{applianceText.remedies[code]}</span>
    </li>
  );
}
