// Input proof in its short form: 2,000 bad requests generated from the OpenAPI document, the hand-written ones, and
// abusive connections.

import { input } from "../../scripts/proof/input.ts";
import { proveShort } from "../support/executable/proof.ts";

await proveShort(input);
