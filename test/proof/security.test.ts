// The short form of `scripts/prove security`, but for what measures time or memory.

import { otherSecurity } from "../../scripts/proof/security.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(otherSecurity);
