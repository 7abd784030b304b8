// Where a record comes from: the `source` object on the wire.

import { Type } from "@sinclair/typebox";
import { OneOf } from "../schemas/schemas.ts";

/**
 * Manual: a person or a client entered it. System: the appliance made it for itself. Discovery: seen on the network.
 * Inferred: concluded from what was seen. Unknown: not recorded.
 */
export const SOURCE_TYPES = ["Manual", "System", "Discovery", "Inferred", "Unknown"] as const;

export type SourceType = (typeof SOURCE_TYPES)[number];

export interface SourceRecord {
  readonly type: SourceType;
}

export const Source = Type.Object({ type: OneOf(SOURCE_TYPES) }, { $id: "Source" });

/** What a person entered. */
export const MANUAL: SourceRecord = { type: "Manual" };
export const DISCOVERED: SourceRecord = { type: "Discovery" };
/** What was concluded from what was seen. */
export const INFERRED: SourceRecord = { type: "Inferred" };
