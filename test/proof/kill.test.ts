// Kills and power losses, in the short form of the proof.

import { kill } from "../../scripts/proof/kill.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(kill);
