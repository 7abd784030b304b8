// Side by side with PostgreSQL and Directus, in short: few rows, short turns.

import { sideBySide } from "../../scripts/proof/side-by-side.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(sideBySide);
