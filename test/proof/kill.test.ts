// Kills and losses of power, in the short form.

import { kill } from "../../scripts/proof/kill.ts";
import { proveShort } from "../support/proof.ts";

await proveShort(kill);
