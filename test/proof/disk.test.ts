// What the appliance does on a disk that is full, cannot be written to or is damaged, in the short form.

import { otherDisks } from "../../scripts/proof/disk.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(otherDisks);
