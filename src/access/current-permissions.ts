// Current permissions of a command's author. A request may wait for minutes, and must not write with permissions that
// have since been revoked. Call within the writing transaction. Independent of commands.

import { DomainError } from "../base/errors.ts";
import type { Instant } from "../base/instant.ts";
import type { Sql } from "../db/connection.ts";
import type { Author } from "../db/writing/ledger.ts";
import { assertKeyInForce, type CommandActor, notAuthenticated, requireAccess, type TaskRequester } from "./actor.ts";
import { isAllowedSource, readSources, sourceNotAllowed } from "./allowed-sources.ts";
import { commonNetworks, networksOfUser, reachesNetwork } from "./reach.ts";
import { atLeast, lesserRole, type Role } from "./role.ts";

/** Reason for ending a scan whose requester lost the permission. */
export const PERMISSION_WITHDRAWN = "the user who requested it no longer has permission to";

// Parameters are written as +?; see SqlBuilder.
const SESSION_SQL = `SELECT u.n, u.role, u.is_enabled, r.id FROM sessions s JOIN users u ON u.n = s.user_n
  JOIN history_records r ON r.n = u.n
  WHERE s.hash = +?`;
const KEY_SQL = `SELECT k.n, k.permissions, k.is_enabled, k.all_networks, k.expires_at, k.allowed_sources, u.n,
  u.role, u.is_enabled, r.id
  FROM api_key_hashes h JOIN api_keys k ON k.n = h.api_key_n JOIN users u ON u.n = k.user_n
    JOIN history_records r ON r.n = k.n
  WHERE h.hash = +?`;
const NETWORKS_SQL = `SELECT r.id FROM live_links l JOIN history_records r ON r.n = l.target_n
  WHERE l.n = +? AND l.relation = 'network_ids' ORDER BY l.target_n`;

const USER_BY_ID_SQL =
  "SELECT u.n, u.role, u.is_enabled, r.id FROM history_records r JOIN users u ON u.n = r.n WHERE r.id = +?";
const KEY_BY_ID_SQL = `SELECT k.n, k.permissions, k.is_enabled, k.all_networks, k.expires_at, k.allowed_sources, u.n,
  u.role, u.is_enabled, r.id
  FROM history_records r JOIN api_keys k ON k.n = r.n JOIN users u ON u.n = k.user_n WHERE r.id = +?`;

type SessionRow = [number, Role, number, string];
type KeyRow = [number, Role, number, number, number | null, string | null, number, Role, number, string];

type Permissions = Pick<CommandActor, "role" | "networkIds">;

export class AuthorPermissions {
  private readonly session: Rows<SessionRow>;
  private readonly key: Rows<KeyRow>;
  private readonly networks: Rows<[string]>;
  private readonly userById: Rows<SessionRow>;
  private readonly keyById: Rows<KeyRow>;

  /** @param db the writing connection, or one used only to check whether a task may still be requested */
  constructor(db: Sql["$client"]) {
    this.session = db.prepare(SESSION_SQL) as unknown as Rows<SessionRow>;
    this.key = db.prepare(KEY_SQL) as unknown as Rows<KeyRow>;
    this.networks = db.prepare(NETWORKS_SQL) as unknown as Rows<[string]>;
    this.userById = db.prepare(USER_BY_ID_SQL) as unknown as Rows<SessionRow>;
    this.keyById = db.prepare(KEY_BY_ID_SQL) as unknown as Rows<KeyRow>;
  }

  /**
   * Returns the author with the permissions of the request that are still in force. Discovery and the appliance are
   * returned unchanged, discovery only while its requester still has the permission.
   * @throws DomainError auth_not_authenticated, auth_key_disabled, auth_key_expired for credentials no longer valid;
   * auth_permission_denied, auth_session_required if the operation is no longer permitted
   */
  currentAuthor(author: Author, at: Instant): Author {
    const { requestedBy } = author as Partial<CommandActor>;
    if (requestedBy !== undefined && !this.mayRequest(requestedBy, at))
      throw new DomainError("auth_permission_denied", PERMISSION_WITHDRAWN, {});
    if (author.type !== "User" && author.type !== "ApiKey") return author;
    const { standing, ...actor } = author as CommandActor;
    if (standing === undefined)
      throw new Error(`permissions: the ${author.type} ${author.id} lacks the data that its permissions depend on`);
    const { credential, source } = standing;
    const rights =
      author.type === "User"
        ? this.userPermissions(author, this.session.values(credential)[0])
        : this.keyPermissions(author, this.key.values(credential)[0], at, source);
    requireAccess({ type: actor.type, role: rights.role }, standing.access);
    // Permissions granted in the meantime apply to the next request: the current one is consistent with what its caller
    // could see when it arrived.
    const current: CommandActor = {
      ...actor,
      role: lesserRole(actor.role, rights.role),
      networkIds: commonNetworks(actor.networkIds, rights.networkIds),
    };
    return current;
  }

  /** Whether a task may be requested at this moment; its user need not be signed in. */
  mayRequest({ type, id, role, networkId }: TaskRequester, at: Instant): boolean {
    try {
      const rights =
        type === "User"
          ? this.userPermissions({ id }, this.userById.values(id)[0])
          : this.keyPermissions({ id }, this.keyById.values(id)[0], at, null);
      return atLeast(rights.role, role) && reachesNetwork(rights, networkId);
    } catch (error) {
      if (error instanceof DomainError) return false;
      throw error;
    }
  }

  private userPermissions({ id }: Pick<Author, "id">, row: SessionRow | undefined): Permissions {
    if (row === undefined) throw notAuthenticated();
    const [n, role, isEnabled, userId] = row;
    if (isEnabled !== 1 || userId !== id) throw notAuthenticated();
    return { role, networkIds: networksOfUser(role, () => this.networksOf(n)) };
  }

  /** @param source address of the request; null for a background task without one */
  private keyPermissions(
    { id }: Pick<Author, "id">,
    row: KeyRow | undefined,
    at: Instant,
    source: string | null,
  ): Permissions {
    if (row === undefined) throw notAuthenticated();
    const [n, permissions, isEnabled, allNetworks, expiresAt, sources, userN, userRole, isUserEnabled, keyId] = row;
    if (keyId !== id) throw notAuthenticated();
    if (source !== null && !isAllowedSource(readSources(sources), () => source)) throw sourceNotAllowed();
    assertKeyInForce(isEnabled === 1 && isUserEnabled === 1, expiresAt, at);
    const networkIds = commonNetworks(
      allNetworks === 1 ? null : this.networksOf(n),
      networksOfUser(userRole, () => this.networksOf(userN)),
    );
    return { role: lesserRole(permissions, userRole), networkIds };
  }

  private networksOf(n: number): string[] {
    return this.networks.values(n).map(([id]) => id);
  }
}

/** A prepared statement. */
interface Rows<Row> {
  values(parameter: number | string | Uint8Array): Row[];
}
