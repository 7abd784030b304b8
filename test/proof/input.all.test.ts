// Bad input in the short form of the proof: 2,000 requests generated from the document, the hand-written ones, and
// abusive connections.

import { input } from "../../scripts/proof/input.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(input);
