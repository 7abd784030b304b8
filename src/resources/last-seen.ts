// Wire format of the last place of a machine that has no present one.

import { type Static, Type } from "@sinclair/typebox";
import type { Actor } from "../access/actor.ts";
import type { AsOf } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { Nullable, Timestamp, Uuid } from "../schemas/schemas.ts";

const Ref = Type.Object({ id: Uuid, name: Type.String() });

/** The last edge port that had learned one of its MAC addresses, and until when. */
export const LastSeen = Type.Object(
  { switch: Ref, port: Ref, until: Timestamp },
  { $id: "LastSeen", description: "Last place of a machine that has no present one, and until when it was there." },
);
export type LastSeen = Static<typeof LastSeen>;

export const LastSeenField = Nullable(LastSeen, {
  description:
    "Only without a present place: the last edge port that had learned its MAC address, and until when. Null if none is known.",
});

/** Last place of a host, by its number. */
export type LastSeenOf = (reader: Reader, actor: Actor, hostN: number, asOf: AsOf | null) => LastSeen | null;
