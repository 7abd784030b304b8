// Response type of a comparison. Only a type, for modules that must not depend on the browser.

import type { components } from "#api";

export type DiffData = components["schemas"]["Diff"];
