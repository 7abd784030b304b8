// What the appliance does on a disk that is slow, in the short form.

import { slowDisks } from "../../scripts/proof/disk.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(slowDisks);
