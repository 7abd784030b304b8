// An hour's mixed load compressed, overload and recovery, in the short form.

import { load } from "../../scripts/proof/load.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(load);
