// Access gate: identifies the actor of a request by API key or session, with current permissions. Runs on every request
// and needs two or three prepared reads. Does not write; reports last-used times to usage.ts.

import {
  type Access,
  type Actor,
  assertKeyInForce,
  type CommandActor,
  invalidCredentials,
  notAuthenticated,
  requireAccess,
  type WriteSender,
} from "../access/actor.ts";
import { isAllowedSource, readSources, type SourceBlocks, sourceNotAllowed } from "../access/allowed-sources.ts";
import { hashApiKey, isWellFormedApiKey } from "../access/api-key.ts";
import { commonNetworks, networksOfUser } from "../access/reach.ts";
import { lesserRole, type Role } from "../access/role.ts";
import { hashSessionToken, isWellFormedSessionToken } from "../access/session-token.ts";
import { SESSION_IDLE_MS } from "../access/tables.ts";
import { assertOnlyOrganization } from "../access/whole-appliance.ts";
import type { Clock } from "../base/clock.ts";
import { DomainError } from "../base/errors.ts";
import type { Instant } from "../base/instant.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { LogFields, RequestContext } from "../http/request.ts";
import type { Gate } from "../http/surface.ts";
import { originAllowed } from "./origin.ts";
import type { OriginCall } from "./session-origin.ts";

export const SESSION_COOKIE = "session_id";

/** Longer headers contain no key and are not cached. */
const AUTHORIZATION_MAX_LENGTH = 100;

/** Maximum number of cached credentials; evicting one costs a lookup under overload. */
const KNOWN_SENDERS_MAX = 10_000;

/** Receives last-used times, at most once a minute per key or session. */
export interface UsageReport {
  keyUsed(keyN: number, at: Instant): void;
  /** @param call the request; must not be retained */
  sessionUsed(hash: Uint8Array, at: Instant, call: OriginCall): void;
}

// Parameters are written as +?; see SqlBuilder.
const KEY_SQL = `SELECT k.n, k.permissions, k.is_enabled, k.all_networks, k.expires_at, k.allowed_sources, u.n,
  u.role, u.is_enabled, u.organization_n
  FROM api_key_hashes h JOIN api_keys k ON k.n = h.api_key_n JOIN users u ON u.n = k.user_n WHERE h.hash = +?`;
const SESSION_SQL = `SELECT s.last_used_at, u.n, u.role, u.is_enabled, u.organization_n FROM sessions s
  JOIN users u ON u.n = s.user_n WHERE s.hash = +?`;
const USER_SQL = "SELECT role, organization_n FROM users WHERE n = +?";
const NETWORKS_SQL = "SELECT target_n FROM live_links WHERE n = +? AND relation = 'network_ids' ORDER BY target_n";
const AUTHOR_SQL = `SELECT a.id, u.id, o.id,
  (SELECT ('{' || members || '}') ->> '$.name' FROM users WHERE n = u.n),
  (SELECT ('{' || members || '}') ->> '$.name' FROM api_keys WHERE n = a.n)
  FROM history_records a, history_records u, history_records o WHERE a.n = +? AND u.n = +? AND o.n = +?`;

type KeyRow = [number, Role, number, number, number | null, string | null, number, Role, number, number];
type SessionRow = [number, number, Role, number, number];

/** Actor of some credentials, and their allowed sources. */
interface Identified {
  readonly actor: Actor;
  readonly sources: SourceBlocks;
}

interface Sender {
  readonly userN: number;
  readonly sources: SourceBlocks;
}

/** A key with its present permissions. */
interface FoundKey extends Identified {
  readonly isEnabled: boolean;
  readonly expiresAt: Instant | null;
}

export class AccessGate implements Gate<Actor, Access> {
  private readonly reader: Reader;
  private readonly clock: Clock;
  private readonly usage: UsageReport;
  /** Users of credentials valid on their last use, by header or token. Permissions are checked on each request. */
  private readonly knownSenders = new Map<string, Sender>();

  constructor(options: { reader: Reader; clock: Clock; usage: UsageReport }) {
    this.reader = options.reader;
    this.clock = options.clock;
    this.usage = options.usage;
  }

  snapshot<T>(read: () => T): T {
    return this.reader.snapshot(read);
  }

  /** The user: all keys of a user share the user's quota. */
  quotaOwner(actor: Actor): unknown {
    return actor.userN;
  }

  identify(context: RequestContext, _access: Access): Actor {
    const authorization = context.request.headers.get("authorization");
    // A session cookie never replaces an invalid bearer token.
    const token = authorization === null ? sessionToken(context.request.headers.get("cookie")) : null;
    const credentials = authorization ?? token;
    if (credentials === null) throw notAuthenticated();
    try {
      const { actor, sources } =
        authorization !== null ? this.byKey(authorization, context) : this.bySession(credentials, context);
      if (this.knownSenders.get(credentials)?.sources !== sources)
        this.rememberSender(credentials, actor.userN, sources);
      return actor;
    } catch (error) {
      this.knownSenders.delete(credentials);
      throw error;
    }
  }

  /** The user: for quotas, never for permissions. A recently valid key counts as its user's even if revoked since. */
  senderOf(request: Request, source: () => string, mayAsk: () => boolean): number | null {
    const authorization = request.headers.get("authorization");
    const token = authorization === null ? sessionToken(request.headers.get("cookie")) : null;
    const credentials = authorization ?? token;
    if (credentials === null) return null;
    const known = this.knownSenders.get(credentials);
    // A stolen key must not use up its user's quota from a source where it is not allowed.
    if (known !== undefined) return isAllowedSource(known.sources, source) ? known.userN : null;
    const isLikely =
      authorization === null ? isWellFormedSessionToken(credentials) : extractKey(authorization) !== null;
    if (!isLikely || !mayAsk()) return null;
    const found = this.reader.snapshot(() =>
      authorization !== null ? this.keyInForce(authorization) : this.userOfSession(credentials),
    );
    if (found === null) return null;
    const { userN, sources } = found;
    if (!isAllowedSource(sources, source)) return null;
    this.rememberSender(credentials, userN, sources);
    return userN;
  }

  private rememberSender(credentials: string, userN: number, sources: SourceBlocks): void {
    if (this.knownSenders.size >= KNOWN_SENDERS_MAX && !this.knownSenders.has(credentials)) {
      const [oldest] = this.knownSenders.keys();
      if (oldest !== undefined) this.knownSenders.delete(oldest);
    }
    this.knownSenders.set(credentials, { userN, sources });
  }

  private keyInForce(authorization: string): Sender | null {
    const found = this.findKey(authorization);
    const isValid = found?.isEnabled && (found.expiresAt === null || this.clock.now() < found.expiresAt);
    return isValid ? { userN: found.actor.userN, sources: found.sources } : null;
  }

  private userOfSession(token: string): Sender | null {
    const row = this.reader.statement(SESSION_SQL).values(hashSessionToken(token))[0] as SessionRow | undefined;
    if (row === undefined) return null;
    const [lastUsedAt, userN, , isEnabled] = row;
    return isEnabled === 1 && this.clock.now() - lastUsedAt <= SESSION_IDLE_MS ? { userN, sources: null } : null;
  }

  /**
   * Whether a caller may use an operation at all, regardless of the data requested.
   * @throws DomainError auth_session_required, auth_permission_denied
   */
  private require(actor: Actor, access: Access): void {
    requireAccess(actor, access);
    if (access.ofWholeAppliance === true) assertOnlyOrganization(this.reader);
  }

  /** The same check as a boolean. */
  mayAsk(actor: Actor, access: Access): boolean {
    try {
      this.require(actor, access);
      return true;
    } catch (error) {
      if (error instanceof DomainError) return false;
      throw error;
    }
  }

  permit(actor: Actor, access: Access, context: RequestContext): void {
    this.require(actor, access);
    const method = context.request.method;
    if (actor.type === "User" && method !== "GET" && method !== "HEAD") assertOrigin(context.request);
  }

  /** The caller as commands and the ledger need it, with the data that the writer checks again. */
  authorOf({ actor, access, request, requestId, source, reason }: WriteSender): CommandActor {
    if (access === "anyone") throw new Error("gate: an operation without authentication has no author to write as");
    const { id, name, userId, organizationId } = this.identityOf(actor);
    const networkIds = actor.networkNs === null ? null : this.reader.recordIds(actor.networkNs);
    return {
      type: actor.type,
      id,
      name,
      organizationId,
      requestId,
      reason,
      userId,
      role: actor.role,
      networkIds,
      standing: { credential: credentialOf(request), source, access },
    };
  }

  logFieldsOf(actor: Actor): LogFields {
    const { id, name, userId } = this.identityOf(actor);
    return {
      actor_type: actor.type,
      actor_id: id,
      actor_name: name,
      ...(actor.type === "ApiKey" ? { actor_user_id: userId } : {}),
    };
  }

  private identityOf(actor: Actor): { id: string; name: string; userId: string; organizationId: string } {
    const { n, userN, organizationN } = actor;
    const row = this.reader.cached(
      `actor ${n} ${userN} ${organizationN}`,
      () =>
        this.reader.statement(AUTHOR_SQL).values(n, userN, organizationN)[0] as [
          id: string,
          userId: string,
          organizationId: string,
          userName: string | null,
          keyName: string | null,
        ],
    );
    return {
      id: row[0],
      name: (actor.type === "User" ? row[3] : row[4]) ?? "",
      userId: row[1],
      organizationId: row[2],
    };
  }

  /** The actor for a user who has just signed in. Does not check whether the user may sign in. */
  actorOfUser(userN: number): Actor {
    const row = this.reader.statement(USER_SQL).values(userN)[0] as [Role, number] | undefined;
    // Deleted at this very moment.
    if (row === undefined) throw invalidCredentials();
    const [role, organizationN] = row;
    return { type: "User", n: userN, userN, role, organizationN, networkNs: this.userNetworks(userN, role) };
  }

  private bySession(token: string, context: RequestContext): Identified {
    if (!isWellFormedSessionToken(token)) throw notAuthenticated();
    const hash = hashSessionToken(token);
    const row = this.reader.statement(SESSION_SQL).values(hash)[0] as SessionRow | undefined;
    if (row === undefined) throw notAuthenticated();
    const [lastUsedAt, userN, role, isEnabled, organizationN] = row;
    const now = this.clock.now();
    if (isEnabled !== 1) throw notAuthenticated();
    if (now - lastUsedAt > SESSION_IDLE_MS)
      throw new DomainError("auth_session_expired", "The session has ended: sign in again.", {});
    this.usage.sessionUsed(hash, now, context);
    const networkNs = this.userNetworks(userN, role);
    return { actor: { type: "User", n: userN, userN, role, organizationN, networkNs }, sources: null };
  }

  private byKey(authorization: string, context: RequestContext): Identified {
    // Cached by the raw header: the same one comes again and again, and parsing costs more than a lookup.
    const found =
      authorization.length <= AUTHORIZATION_MAX_LENGTH
        ? this.reader.cached(`authorization ${authorization}`, () => this.findKey(authorization))
        : null;
    if (found === null) throw notAuthenticated();
    const { actor, isEnabled, expiresAt, sources } = found;
    // Checked first: callers from other sources must not learn whether the key is valid.
    if (!isAllowedSource(sources, () => context.source)) {
      Object.assign(context.logFields, this.logFieldsOf(actor));
      throw sourceNotAllowed();
    }
    const now = this.clock.now();
    assertKeyInForce(isEnabled, expiresAt, now);
    this.usage.keyUsed(actor.n, now);
    return found;
  }

  private findKey(authorization: string): FoundKey | null {
    const key = extractKey(authorization);
    if (key === null) return null;
    const row = this.reader.statement(KEY_SQL).values(hashApiKey(key))[0] as KeyRow | undefined;
    if (row === undefined) return null;
    const [
      keyN,
      permissions,
      keyEnabled,
      allNetworks,
      expiresAt,
      sources,
      userN,
      userRole,
      userEnabled,
      organizationN,
    ] = row;
    const networkNs = commonNetworks(
      allNetworks === 1 ? null : this.networks(keyN),
      this.userNetworks(userN, userRole),
    );
    const actor: Actor = {
      type: "ApiKey",
      n: keyN,
      userN,
      role: lesserRole(permissions, userRole),
      organizationN,
      networkNs,
    };
    return { actor, sources: readSources(sources), isEnabled: keyEnabled === 1 && userEnabled === 1, expiresAt };
  }

  private userNetworks(userN: number, role: Role): readonly number[] | null {
    return networksOfUser(role, () => this.networks(userN));
  }

  private networks(n: number): number[] {
    return (this.reader.statement(NETWORKS_SQL).values(n) as Array<[number]>).map((row) => row[0]);
  }
}

/** @throws DomainError auth_origin_rejected for a change requested by another site's page */
export function assertOrigin(request: Request): void {
  const { headers } = request;
  const allowed = originAllowed({
    origin: headers.get("origin"),
    secFetchSite: headers.get("sec-fetch-site"),
    host: headers.get("host"),
  });
  if (!allowed) throw new DomainError("auth_origin_rejected", "The request comes from a page of another site.", {});
}

/** The value of the session cookie; null without one. */
export function sessionToken(cookieHeader: string | null): string | null {
  if (cookieHeader === null) return null;
  for (const part of cookieHeader.split(";")) {
    const equals = part.indexOf("=");
    if (equals > 0 && part.slice(0, equals).trim() === SESSION_COOKIE) return part.slice(equals + 1).trim();
  }
  return null;
}

/** The well-formed key in a header; null without one. */
function extractKey(authorization: string): string | null {
  if (authorization.length > AUTHORIZATION_MAX_LENGTH) return null;
  const token = bearerToken(authorization);
  return isWellFormedApiKey(token) ? token : null;
}

/** The token of a header; empty without one. */
function bearerToken(authorization: string): string {
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
}

/** The stored hash of the credential of an identified request. */
function credentialOf({ headers }: Request): Uint8Array {
  const authorization = headers.get("authorization");
  if (authorization !== null) return hashApiKey(bearerToken(authorization));
  return hashSessionToken(sessionToken(headers.get("cookie")) ?? "");
}
