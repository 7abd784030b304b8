// Record origin: the `source` object on the wire.

import { Type } from "@sinclair/typebox";
import { OneOf } from "../schemas/schemas.ts";

/**
 * Manual: entered by a user or a client. System: created by the appliance for itself. Discovery: seen on the network.
 * Inferred: concluded from observations. Unknown: not recorded.
 */
export const SOURCE_TYPES = ["Manual", "System", "Discovery", "Inferred", "Unknown"] as const;

export type SourceType = (typeof SOURCE_TYPES)[number];

export interface SourceRecord {
  readonly type: SourceType;
}

export const Source = Type.Object({ type: OneOf(SOURCE_TYPES) }, { $id: "Source" });

/** Entered by a user. */
export const MANUAL: SourceRecord = { type: "Manual" };
export const DISCOVERED: SourceRecord = { type: "Discovery" };
/** Concluded from observations. */
export const INFERRED: SourceRecord = { type: "Inferred" };
