// What of `scripts/prove security` measures time or memory, in its short form.

import { measuredSecurity } from "../../scripts/proof/security.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(measuredSecurity);
