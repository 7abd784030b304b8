// Kill proof in its short form: kills and power losses.

import { kill } from "../../scripts/proof/kill.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(kill);
