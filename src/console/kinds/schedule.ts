// List columns and form fields of scan schedules.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";

export const scheduleDetails: KindDetails<keyof components["schemas"]["Schedule"]> = {
  columns: {
    name: [12, "page"],
    network_id: 8,
    kind: [6, "scanKind"],
    cron: [7.5, "code"],
    timezone: 6.5,
    next_run_at: [9.5, "minute"],
    targets: [9.5, "targets"],
    is_enabled: [5, "yesNo"],
    created_at: 11,
    updated_at: 11,
  },
  shown: ["name", "network_id", "kind", "cron", "timezone", "next_run_at", "targets", "is_enabled"],
  example: "kind = full AND is_enabled = true",
  emptyHint: "No schedules. An Admin can create one.",
  dependsOnNow: true,
  form: ["name", "kind", "cron", "timezone", "targets", "is_enabled"],
  defaults: { kind: "full", is_enabled: true },
};
