// List columns and form fields of markers.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";

export const markerDetails: KindDetails<keyof components["schemas"]["Marker"]> = {
  columns: { name: 18, at: 11, network_id: 10, description: 24, created_at: 11, updated_at: 11 },
  shown: ["name", "at", "network_id", "description"],
  order: "-at",
  example: 'at > "-30d"',
  form: ["name", "at", "network_id", "description"],
};
