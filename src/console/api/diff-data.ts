// What differs between two instants, as the API answers it. A type alone, for functions that know no browser.

import type { components } from "#api";

export type DiffData = components["schemas"]["Diff"];
