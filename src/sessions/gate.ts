// Names the actor of a request: by API key or by session, with the rights of today. On every request's path, so
// it is two or three prepared reads. Must not write: what it notices (last used) it reports.

import {
  type Access,
  type Actor,
  type AskedBy,
  assertKeyInForce,
  type CommandActor,
  invalidCredentials,
  notAuthenticated,
  requireAccess,
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

/** Longer headers are no key's, and not worth remembering. */
const AUTHORIZATION_MAX_LENGTH = 100;

/**
 * Credentials of which it is remembered whose they are; forgetting one costs a look-up where too many requests come at
 * once.
 */
const KNOWN_SENDERS_MAX = 10_000;

/** What was used, when: reported at most once a minute for each. */
export interface UsageReport {
  keyUsed(keyN: number, at: Instant): void;
  /** @param by the request, which is not kept */
  sessionUsed(hash: Uint8Array, at: Instant, by: OriginCall): void;
}

// Parameters are written +?: see SqlBuilder.
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

/** Whom credentials are of, and from where they may come. */
interface Known {
  readonly actor: Actor;
  readonly sources: SourceBlocks;
}

interface Sender {
  readonly userN: number;
  readonly sources: SourceBlocks;
}

/** A key with the rights that it has today. */
interface FoundKey extends Known {
  readonly isEnabled: boolean;
  readonly expiresAt: Instant | null;
}

export class AccessGate implements Gate<Actor, Access> {
  private readonly reader: Reader;
  private readonly clock: Clock;
  private readonly usage: UsageReport;
  /**
   * The users of credentials that were good the last time that they came, by header or token. What they may is asked
   * each time.
   */
  private readonly knownSenders = new Map<string, Sender>();

  constructor(options: { reader: Reader; clock: Clock; usage: UsageReport }) {
    this.reader = options.reader;
    this.clock = options.clock;
    this.usage = options.usage;
  }

  snapshot<T>(read: () => T): T {
    return this.reader.snapshot(read);
  }

  /** The user: a user's keys share what the user has. */
  quotaOwner(actor: Actor): unknown {
    return actor.userN;
  }

  identify(context: RequestContext, _access: Access): Actor {
    const authorization = context.request.headers.get("authorization");
    // A bad bearer is never rescued by a cookie.
    const token = authorization === null ? sessionToken(context.request.headers.get("cookie")) : null;
    const credentials = authorization ?? token;
    if (credentials === null) throw notAuthenticated();
    try {
      const { actor, sources } =
        authorization !== null ? this.byKey(authorization, context) : this.bySession(credentials, context);
      if (this.knownSenders.get(credentials)?.sources !== sources) this.knowSender(credentials, actor.userN, sources);
      return actor;
    } catch (error) {
      this.knownSenders.delete(credentials);
      throw error;
    }
  }

  /**
   * The user: what is counted by, and no right. A key that was good lately counts as its user's, whatever became of it
   * since.
   */
  senderOf(request: Request, source: () => string, mayAsk: () => boolean): number | null {
    const authorization = request.headers.get("authorization");
    const token = authorization === null ? sessionToken(request.headers.get("cookie")) : null;
    const credentials = authorization ?? token;
    if (credentials === null) return null;
    const known = this.knownSenders.get(credentials);
    // A stolen key is not to use up its user's share from where it cannot be used.
    if (known !== undefined) return isAllowedSource(known.sources, source) ? known.userN : null;
    const isLikely = authorization === null ? isWellFormedSessionToken(credentials) : keyIn(authorization) !== null;
    if (!isLikely || !mayAsk()) return null;
    const found = this.reader.snapshot(() =>
      authorization !== null ? this.keyInForce(authorization) : this.userOfSession(credentials),
    );
    if (found === null) return null;
    const { userN, sources } = found;
    if (!isAllowedSource(sources, source)) return null;
    this.knowSender(credentials, userN, sources);
    return userN;
  }

  private knowSender(credentials: string, userN: number, sources: SourceBlocks): void {
    if (this.knownSenders.size >= KNOWN_SENDERS_MAX && !this.knownSenders.has(credentials)) {
      const [oldest] = this.knownSenders.keys();
      if (oldest !== undefined) this.knownSenders.delete(oldest);
    }
    this.knownSenders.set(credentials, { userN, sources });
  }

  private keyInForce(authorization: string): Sender | null {
    const found = this.findKey(authorization);
    const isGood = found?.isEnabled && (found.expiresAt === null || this.clock.now() < found.expiresAt);
    return isGood ? { userN: found.actor.userN, sources: found.sources } : null;
  }

  private userOfSession(token: string): Sender | null {
    const row = this.reader.statement(SESSION_SQL).values(hashSessionToken(token))[0] as SessionRow | undefined;
    if (row === undefined) return null;
    const [lastUsedAt, userN, , isEnabled] = row;
    return isEnabled === 1 && this.clock.now() - lastUsedAt <= SESSION_IDLE_MS ? { userN, sources: null } : null;
  }

  /**
   * Whether a caller may ask for an operation at all; what it is asked for is another matter.
   * @throws DomainError auth_session_required, auth_permission_denied
   */
  private require(actor: Actor, access: Access): void {
    requireAccess(actor, access);
    if (access.ofWholeAppliance === true) assertOnlyOrganization(this.reader);
  }

  /** The same as an answer. */
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

  /** The caller as commands and the ledger know it, with what the writer is to look at again. */
  authorOf({ actor, access, request, requestId, source, reason }: AskedBy): CommandActor {
    if (access === "anyone") throw new Error("gate: an operation that anyone may ask writes as nobody");
    const { id, name, userId, organizationId } = this.named(actor);
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
    const { id, name, userId } = this.named(actor);
    return {
      actor_type: actor.type,
      actor_id: id,
      actor_name: name,
      ...(actor.type === "ApiKey" ? { actor_user_id: userId } : {}),
    };
  }

  private named(actor: Actor): { id: string; name: string; userId: string; organizationId: string } {
    const row = this.reader.statement(AUTHOR_SQL).values(actor.n, actor.userN, actor.organizationN)[0] as [
      string,
      string,
      string,
      string | null,
      string | null,
    ];
    return {
      id: row[0],
      name: (actor.type === "User" ? row[3] : row[4]) ?? "",
      userId: row[1],
      organizationId: row[2],
    };
  }

  /** The caller that a user is who has just signed in. Whether the user may sign in is not asked here. */
  actorOfUser(userN: number): Actor {
    const row = this.reader.statement(USER_SQL).values(userN)[0] as [Role, number] | undefined;
    // Deleted in this very moment.
    if (row === undefined) throw invalidCredentials();
    const [role, organizationN] = row;
    return { type: "User", n: userN, userN, role, organizationN, networkNs: this.userNetworks(userN, role) };
  }

  private bySession(token: string, context: RequestContext): Known {
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

  private byKey(authorization: string, context: RequestContext): Known {
    // By the header as it came: the same one comes again and again, and recognising it costs more than looking it up.
    const found =
      authorization.length <= AUTHORIZATION_MAX_LENGTH
        ? this.reader.remember(`authorization ${authorization}`, () => this.findKey(authorization))
        : null;
    if (found === null) throw notAuthenticated();
    const { actor, isEnabled, expiresAt, sources } = found;
    // First of all: from elsewhere nobody learns whether the key would do.
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
    const key = keyIn(authorization);
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

/** @throws DomainError auth_origin_rejected for a change that another site's page asked for */
export function assertOrigin(request: Request): void {
  const { headers } = request;
  const allowed = originAllowed({
    origin: headers.get("origin"),
    secFetchSite: headers.get("sec-fetch-site"),
    host: headers.get("host"),
  });
  if (!allowed) throw new DomainError("auth_origin_rejected", "The request comes from a page of another site.", {});
}

/** The value of the session cookie; null where there is none. */
export function sessionToken(cookieHeader: string | null): string | null {
  if (cookieHeader === null) return null;
  for (const part of cookieHeader.split(";")) {
    const equals = part.indexOf("=");
    if (equals > 0 && part.slice(0, equals).trim() === SESSION_COOKIE) return part.slice(equals + 1).trim();
  }
  return null;
}

/** The well-formed key in a header; null where there is none. */
function keyIn(authorization: string): string | null {
  if (authorization.length > AUTHORIZATION_MAX_LENGTH) return null;
  const key = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  return key !== undefined && isWellFormedApiKey(key) ? key : null;
}

/** The hash by which the store knows what a request came with. */
function credentialOf({ headers }: Request): Uint8Array {
  const authorization = headers.get("authorization");
  if (authorization !== null) return hashApiKey(keyIn(authorization) ?? "");
  return hashSessionToken(sessionToken(headers.get("cookie")) ?? "");
}
