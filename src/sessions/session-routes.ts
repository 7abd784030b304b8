// Routes for /api/auth/sessions: list and close the user's own sessions, inaccessible to other users.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../access/actor.ts";
import { hashSessionToken } from "../access/session-token.ts";
import { SESSION_IDLE_MS } from "../access/tables.ts";
import type { Clock } from "../base/clock.ts";
import { notFound } from "../base/errors.ts";
import { formatInstant, type Instant } from "../base/instant.ts";
import type { RequestContext } from "../http/request.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend } from "../records/backend.ts";
import { FilterQuery } from "../records/list-filter.ts";
import { requestFilter } from "../records/list-responses.ts";
import { RowFilter } from "../records/row-filter.ts";
import { successResponse } from "../schemas/envelope.ts";
import { Uuid } from "../schemas/schemas.ts";
import type { SignInCommands } from "./commands.ts";
import { sessionToken } from "./gate.ts";
import { SESSION_EXAMPLE, SESSION_FIELDS, Session } from "./session.ts";

const group = "Access";
const access: Access = { role: "Viewer", sessionOnly: true };
const Params = Type.Object({ id: Uuid });
const SESSIONS_SQL = `SELECT hash, created_at, last_used_at, last_used_from, user_agent FROM sessions
  WHERE user_n = +? AND last_used_at >= +? ORDER BY last_used_at DESC, created_at DESC, hash`;

type Row = [
  hash: Uint8Array,
  createdAt: Instant,
  lastUsedAt: Instant,
  lastUsedFrom: string | null,
  userAgent: string | null,
];

/** /api/auth/sessions. */
export function sessionRoutes(surface: Surface<Actor, Access>, backend: Backend<SignInCommands>, clock: Clock): void {
  const { reader, writes, authorOf } = backend;
  /** Unexpired sessions of a user, last used first. */
  const sessionsOf = ({ userN }: Actor): Row[] =>
    reader.statement(SESSIONS_SQL).values(userN, clock.now() - SESSION_IDLE_MS) as Row[];

  surface
    .get(
      "/api/auth/sessions",
      {
        operationId: "listSessions",
        summary: "List your sessions",
        description: "Your sessions, most recently used first. Sessions have no history.",
        group,
        access,
        query: Type.Object(FilterQuery),
        responseSchema: Type.Array(Session),
        example: { data: [SESSION_EXAMPLE] },
      },
      (call) => {
        const current = currentHash(call);
        const filter = RowFilter.of(reader, SESSION_FIELDS, call.actor, requestFilter(call, reader, null));
        const sessions = sessionsOf(call.actor).map(([hash, createdAt, lastUsedAt, lastUsedFrom, userAgent]) => ({
          id: sessionId(hash),
          created_at: formatInstant(createdAt),
          last_used_at: formatInstant(lastUsedAt),
          last_used_from: lastUsedFrom,
          user_agent: userAgent,
          expires_at: formatInstant(lastUsedAt + SESSION_IDLE_MS),
          is_current: Buffer.compare(hash, current) === 0,
        }));
        const shown = sessions.filter((session) => filter === null || filter.holds(session));
        return successResponse(call, JSON.stringify(shown));
      },
    )
    .delete(
      "/api/auth/sessions/:id",
      {
        operationId: "endSession",
        changesSessionsOnly: true,
        writesNoTransaction: true,
        ignoresIdempotencyKey: true,
        summary: "End one of your sessions",
        description:
          "Signs you out there at once. The current session can be ended too; its cookie remains but no longer works.",
        group,
        access,
        params: Params,
        responseSchema: Type.Object({}),
        errors: ["entity_not_found"],
        example: { parameters: { id: SESSION_EXAMPLE.id }, data: {} },
      },
      async (call) => {
        const { id } = call.params;
        const [hash] = sessionsOf(call.actor).find(([each]) => sessionId(each) === id.toLowerCase()) ?? [];
        if (hash === undefined) throw notFound({ name: "session" }, id);
        await writes.run("session.close", { hash }, authorOf(call));
        return successResponse(call, "{}");
      },
    )
    .post(
      "/api/auth/sessions/end-others",
      {
        operationId: "endOtherSessions",
        changesSessionsOnly: true,
        writesNoTransaction: true,
        ignoresIdempotencyKey: true,
        summary: "End your other sessions",
        description: "Signs you out everywhere else, at once. API keys stay valid.",
        group,
        access,
        responseSchema: Type.Object({ ended: Type.Integer({ minimum: 0, description: "Number of ended sessions." }) }),
        example: { data: { ended: 2 } },
      },
      async (call) => {
        const author = authorOf(call);
        const input = { userId: author.userId as string, keptHash: currentHash(call), at: clock.now() };
        const { result } = await writes.run("session.close_others", input, author);
        return successResponse(call, JSON.stringify({ ended: result }));
      },
    );
}

/**
 * Public id of a session: a UUID (version 8, RFC 9562) of a digest of its stored token hash. It reveals neither hash
 * nor token.
 */
function sessionId(hash: Uint8Array): string {
  const bytes = new Bun.CryptoHasher("sha256").update("session id\n").update(hash).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function currentHash({ request }: RequestContext): Uint8Array {
  return hashSessionToken(sessionToken(request.headers.get("cookie")) ?? "");
}
