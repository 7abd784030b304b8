// Attacks on the appliance and its operators, in the short form of `scripts/prove`.

import { security } from "../../scripts/proof/security.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(security);
