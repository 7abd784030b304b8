// Bad input in its short form: 2,000 requests made from the document, the hand-written ones, and connections that are a
// burden.

import { input } from "../../scripts/proof/input.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(input);
