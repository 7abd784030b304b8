// Comparison with PostgreSQL and Directus in the short form of the proof: few rows, short rounds.

import { sideBySide } from "../../scripts/proof/side-by-side.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(sideBySide);
