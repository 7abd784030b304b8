// Routes for GET /api/v1/…/{id}/history, for every resource.

import { type TProperties, Type } from "@sinclair/typebox";
import { type Access, type Actor, plainActor } from "../access/actor.ts";
import { atLeast } from "../access/role.ts";
import { oneEntity } from "../base/entity-words.ts";
import { notFound } from "../base/errors.ts";
import { pascalCase } from "../base/text.ts";
import { ChangeLog } from "../db/reading/change-log.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend } from "../records/backend.ts";
import { FilterQuery } from "../records/list-filter.ts";
import { requestFilter } from "../records/list-responses.ts";
import { respondWithLongRead } from "../records/long-read-responses.ts";
import { readingAt } from "../records/read-instant.ts";
import { RESOURCES } from "../records/resources.ts";
import { formersAt } from "../resources/consolidations/consolidation.ts";
import { hostKind } from "../resources/hosts/host.ts";
import { IdParams, LIMIT_DEFAULT, OneOf, PageQuery } from "../schemas/schemas.ts";
import { versionExample } from "./change-view.ts";
import { type RecordHistoryInput, recordHistory } from "./record-history.ts";
import { versionFields } from "./version-rows.ts";

const SELVES = ["all", "own", "former"] as const;
const HOST_PARAMETERS = {
  selves: Type.Optional(
    OneOf(SELVES, {
      default: "all",
      description: "Versions of: `own` this host only, `former` the hosts consolidated into it, `all` both.",
    }),
  ),
  include_children: Type.Optional(
    Type.Boolean({ default: true, description: "Whether to include the host's children as they were." }),
  ),
};

interface HostParameters {
  readonly include_children?: boolean;
  readonly selves?: (typeof SELVES)[number];
}

/** Registers the history route of every resource. */
export function recordHistoryRoutes(surface: Surface<Actor, Access>, backend: Backend): void {
  for (const { kind, path, group, listSchema: listed, example, read } of RESOURCES) {
    const more: TProperties = listed === undefined ? {} : HOST_PARAMETERS;
    surface.get(
      `/api/v1/${path}/:id/history`,
      {
        operationId: `list${pascalCase(kind.name)}History`,
        summary: `List the versions of ${oneEntity(kind)}`,
        description: `Newest first, each with its author and the changed fields. Still available after the record or the author is deleted. With \`at\`, the versions up to that timestamp.${kind.code === hostKind.code ? " Those of hosts that were consolidated into it are listed with its own: `id` in the record distinguishes them." : ""}`,
        group,
        access: read,
        params: IdParams,
        query: Type.Object({ ...more, ...FilterQuery, ...PageQuery }),
        responseSchema: Type.Array(versionFields(kind.name).entity.row),
        isList: true,
        example: { data: [versionExample(example)], parameters: { id: example.id as string } },
      },
      (call) => {
        const { id } = call.params;
        return readingAt(backend, call, async (moment) => {
          const { reader } = backend;
          // An API key's history is visible to its user, and to admins of the organization.
          const ownerN = read.sessionOnly === true && !atLeast(call.actor.role, "Admin") ? call.actor.userN : null;
          const n = new ChangeLog(reader).everVisible(kind, id, call.actor, ownerN);
          if (n === null) throw notFound(kind, id);
          const { include_children, selves = kind.code === hostKind.code ? "all" : "own" } =
            call.query as HostParameters;
          const omitsChildren = include_children === false;
          const { limit = LIMIT_DEFAULT, offset = 0 } = call.query;
          const until = (moment.asOf ?? reader.head()).sequence;
          const input: RecordHistoryInput = {
            actor: plainActor(call.actor),
            kind: kind.name,
            ns: numbersOf(selves, n, () => formersAt(reader, n, until)),
            until,
            limit,
            offset,
            omitsChildren,
            filter: requestFilter(call, reader, moment),
            moment,
          };
          return respondWithLongRead(backend, call, recordHistory, input);
        });
      },
    );
  }
}

/** @param formers evaluated only if needed */
function numbersOf(selves: (typeof SELVES)[number], n: number, formers: () => readonly number[]): readonly number[] {
  if (selves === "own") return [n];
  return selves === "former" ? formers() : [n, ...formers()];
}
