// Load proof in its short form: an hour of mixed load, compressed, with overload and recovery.

import { load } from "../../scripts/proof/load.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(load);
