// Texts of the API keys page.

import { isolated } from "./isolated.ts";

export const apiKeysText = {
  editTitle: (name: string) => `Edit the key ${isolated(name)}`,
} as const;
