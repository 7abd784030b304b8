// Side-by-side proof in its short form: comparison with PostgreSQL and Directus, with few rows and short rounds.

import { sideBySide } from "../../scripts/proof/side-by-side.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(sideBySide);
