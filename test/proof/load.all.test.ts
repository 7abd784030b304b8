// Mixed load of an hour, compressed, with overload and recovery, in the short form of the proof.

import { load } from "../../scripts/proof/load.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(load);
