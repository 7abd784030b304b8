// Disk proof in its short form: full, slow, damaged and read-only disks.

import { disk } from "../../scripts/proof/disk.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(disk);
