// Security proof in its short form: attacks on the appliance and its operators.

import { security } from "../../scripts/proof/security.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(security);
