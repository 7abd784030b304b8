// The short form of `scripts/prove security`.

import { security } from "../../scripts/proof/security.ts";
import { proveShort } from "../support/proof.ts";

await proveShort(security);
