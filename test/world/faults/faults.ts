// All planted faults, in the order of the rules.

import { CONTRADICTION_FAULTS } from "./contradictions.ts";
import type { PlantedFault } from "./fault.ts";
import { IDENTITY_FAULTS } from "./identity.ts";
import { PORT_FAULTS } from "./ports.ts";
import { PRESENCE_FAULTS } from "./presence.ts";

export const FAULTS: readonly PlantedFault[] = [
  ...IDENTITY_FAULTS,
  ...PRESENCE_FAULTS,
  ...CONTRADICTION_FAULTS,
  ...PORT_FAULTS,
];
