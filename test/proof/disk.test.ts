// What the appliance does on a disk that is full, cannot be written to, is slow or damaged, in the short form.

import { disk } from "../../scripts/proof/disk.ts";
import { proveShort } from "../support/proof.ts";

await proveShort(disk);
