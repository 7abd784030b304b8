// Texts of the people page.

import { isolated } from "./isolated.ts";

export const peopleText = {
  editTitle: (name: string) => `Edit ${isolated(name)}`,
} as const;
