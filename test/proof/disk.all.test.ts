// Full, slow, damaged and read-only disks, in the short form of the proof.

import { disk } from "../../scripts/proof/disk.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(disk);
