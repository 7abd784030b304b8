// GET /api/v1/…/{id}/history of every resource.

import { Type, type TProperties } from "@sinclair/typebox";
import type { Access, Actor } from "../access/actor.ts";
import { atLeast } from "../access/role.ts";
import { notFound } from "../base/errors.ts";
import { ChangeLog } from "../db/change-log.ts";
import { byteStream } from "../http/byte-stream.ts";
import { IdParams, LIMIT_DEFAULT, PageQuery } from "../http/schemas.ts";
import type { Surface } from "../http/surface.ts";
import { failed, plainActor, readAt, readingAt, type Inventory } from "../resources/answers.ts";
import { RESOURCES } from "../resources/catalog.ts";
import { versionExample, VersionOf } from "./change-view.ts";
import type { RecordHistoryInput } from "./record-history.ts";

const WITH_CHILDREN = {
  include_children: Type.Optional(
    Type.Boolean({ default: true, description: "Whether each host comes with its children as they were." }),
  ),
};

/** The history of every resource's records. */
export function recordHistoryRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  for (const { kind, path, group, title, answer, listed, example, read } of RESOURCES) {
    const more: TProperties = listed === undefined ? {} : WITH_CHILDREN;
    surface.get(
      `/api/v1/${path}/:id/history`,
      {
        operationId: `list${title}History`,
        summary: `Every version of ${group === "API keys" ? "an API key" : `one of the ${group}`}, newest first`,
        description:
          "With who made it and which fields changed; also after the record, or who changed it, is gone. With `at`, the versions that there were by then.",
        group,
        access: read,
        params: IdParams,
        query: Type.Object({ ...more, ...PageQuery }),
        answer: Type.Array(VersionOf(listed ?? answer, title)),
        isList: true,
        example: { data: [versionExample(example)], parameters: { id: example["id"] as string } },
      },
      (call) => {
        const { id } = call.params;
        const { at, asked } = readAt(call.query.at, inventory.reader.now());
        return readingAt(inventory, at, async (asOf) => {
          const { reader } = inventory;
          // An API key shows to its user, and to who sees all of the organization's.
          const ownerN = read.sessionOnly === true && !atLeast(call.actor.role, "Admin") ? call.actor.userN : null;
          const n = new ChangeLog(reader).everSeen(kind, id, call.actor, ownerN);
          if (n === null) throw notFound(kind.name, id);
          const isAlone = (call.query as { include_children?: boolean }).include_children === false;
          const { limit = LIMIT_DEFAULT, offset = 0 } = call.query;
          const input: RecordHistoryInput = {
            actor: plainActor(call.actor),
            kind: kind.name,
            id,
            n,
            until: (asOf ?? reader.head()).sequence,
            limit,
            offset,
            isAlone,
            asked,
            ...(asOf?.thinned === undefined ? {} : { thinned: asOf.thinned }),
          };
          const chunks = await inventory.longReads.start("record_history", input);
          return new Response(byteStream("", chunks, "", failed(inventory, call)), {
            headers: { ...call.headers, "content-type": "application/json" },
          });
        });
      },
    );
  }
}
