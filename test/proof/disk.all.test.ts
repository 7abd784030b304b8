// What the appliance does on a disk that is full, slow, damaged or cannot be written to, in the short form.

import { disk } from "../../scripts/proof/disk.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(disk);
