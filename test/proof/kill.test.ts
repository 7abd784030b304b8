// Kills and losses of power, in the short form.

import { kill } from "../../scripts/proof/kill.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(kill);
