// Typed secret verification for sign-in, first setup and password change. Throttled on failure, with the same work and
// the same error for any account. Independent of cookies and bodies; see routes.ts.

import { type Actor, type CommandActor, invalidCredentials, SYSTEM_AUTHOR } from "../access/actor.ts";
import { describePasswordProblem, hashPassword, verifyPassword } from "../access/password.ts";
import { generateSessionToken, hashSessionToken } from "../access/session-token.ts";
import type { Clock } from "../base/clock.ts";
import { DomainError, invalid } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { foldCase } from "../base/text.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { Author } from "../db/writing/ledger.ts";
import type { CommandOutcome } from "../db/writing/transaction.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import type { OrganizationCommands } from "../resources/organizations/commands.ts";
import { alreadySetUp } from "../resources/organizations/organization.ts";
import type { UserCommands } from "../resources/users/commands.ts";
import type { SessionOpening, SignInCommands } from "./commands.ts";
import type { AccessGate } from "./gate.ts";
import { type OriginCall, originOf } from "./session-origin.ts";
import { setupTokenMatches } from "./setup-token.ts";
import type { SignInThrottle } from "./sign-in-throttle.ts";

/** An opened session with its actor and the client's token. */
export interface SignedIn {
  readonly actor: Actor;
  readonly userId: string;
  readonly token: string;
}

export interface ApplianceClaim {
  readonly setup_token: string;
  readonly organization_name: string;
  readonly network_name: string;
  readonly name?: string;
  readonly email: string;
  readonly password: string;
}

export interface Claimed extends SignedIn {
  /** Transaction that created them. */
  readonly sequence: number | null;
  readonly organizationId: string;
  readonly networkId: string;
}

/** Account of a sign-in. */
export interface Account {
  readonly id: string;
  readonly email: string;
}

export interface SignInOptions {
  readonly reader: Reader;
  readonly writes: WriteQueue<SignInCommands & OrganizationCommands & UserCommands>;
  readonly gate: AccessGate;
  readonly clock: Clock;
  readonly random: Random;
  readonly throttle: SignInThrottle;
  /** The one-time token of the first setup; null without one. */
  readonly setupToken: () => string | null;
}

const ACCOUNT_SQL = `SELECT r.id, u.is_enabled, p.hash, u.email FROM users u JOIN history_records r ON r.n = u.n
    LEFT JOIN user_passwords p ON p.user_n = u.n WHERE u.identity = ?`;
const PASSWORD_SQL = "SELECT u.email, p.hash FROM users u LEFT JOIN user_passwords p ON p.user_n = u.n WHERE u.n = ?";

/** Never equal to an e-mail address, so that it is throttled separately. */
const SETUP_ACCOUNT = "set-up";

/** Whether there is an organization. */
export function isClaimed(reader: Reader): boolean {
  return reader.statement("SELECT 1 FROM organizations LIMIT 1").values().length > 0;
}

export class SignIn {
  private readonly options: SignInOptions;

  constructor(options: SignInOptions) {
    this.options = options;
  }

  /** Whether the appliance is still unclaimed. */
  setupNeeded(): boolean {
    return !isClaimed(this.options.reader);
  }

  /**
   * Creates the first organization, its first network and its Owner, and signs the Owner in.
   * @param call the request: its address is throttled, and its session shows its origin
   * @param authorFields request data for the ledger
   * @throws DomainError entity_already_exists if already claimed; auth_invalid_credentials for a wrong token;
   * rate_limit_exceeded; validation_failed
   */
  async claim(
    claim: ApplianceClaim,
    call: OriginCall,
    authorFields: Pick<Author, "requestId" | "reason">,
  ): Promise<Claimed> {
    const { writes, setupToken } = this.options;
    if (!this.setupNeeded()) throw alreadySetUp();
    const expected = setupToken();
    await this.throttled(
      SETUP_ACCOUNT,
      call.source,
      wrongSetupToken,
      async () => expected !== null && setupTokenMatches(expected, claim.setup_token),
    );
    const passwordHash = await hashPassword(claim.password, claim.email);
    const { sequence, result } = await writes.run(
      "organization.set_up",
      {
        organizationName: claim.organization_name,
        networkName: claim.network_name,
        ...(claim.name === undefined ? {} : { name: claim.name }),
        email: claim.email,
        passwordHash,
        onlyFirst: true,
      },
      { ...SYSTEM_AUTHOR, ...authorFields },
    );
    return { ...result, sequence, ...(await this.open(result.userId, passwordHash, null, call)) };
  }

  /**
   * @param call as in claim
   * @param replaces the session token sent with the request: closed, regardless of its owner
   * @param onAccount called with the account before anything else: null for an unknown name, which may be a mistyped
   * password
   * @throws DomainError auth_invalid_credentials; rate_limit_exceeded
   */
  async signIn(
    email: string,
    password: string,
    call: OriginCall,
    replaces: string | null,
    onAccount: (account: Account | null) => void,
  ): Promise<SignedIn> {
    const find = () =>
      this.options.reader.statement(ACCOUNT_SQL).values(foldCase(email))[0] as
        | [string, number, string | null, string]
        | undefined;
    const account = find();
    const { source } = call;
    onAccount(account === undefined ? null : { id: account[0], email: account[3] });
    const isKnown = this.options.throttle.hasSignedInRecently(email, source);
    const { userId, passwordHash } = await this.throttled(email, source, invalidCredentials, async () => {
      const [userId, isEnabled, passwordHash] = find() ?? ["", 0, null];
      // Verified even for disabled and unknown accounts: the time taken must not reveal them.
      const isCorrect = await verifyPassword(password, passwordHash, isKnown);
      return isCorrect && isEnabled === 1 && { userId, passwordHash: passwordHash as string };
    });
    return this.open(userId, passwordHash, replaces, call);
  }

  /** Closes the session of a token, with its user as author. */
  async signOut(token: string, author: CommandActor): Promise<void> {
    await this.options.writes.run("session.close", { hash: hashSessionToken(token) }, author);
  }

  /**
   * Changes the caller's password and closes the caller's other sessions.
   * @param token of the session to keep
   * @returns the outcome of the write
   * @throws DomainError auth_invalid_credentials for a wrong current password; rate_limit_exceeded; validation_failed
   */
  async changePassword(
    actor: Actor,
    author: CommandActor,
    passwords: { current: string; newPassword: string },
    source: string,
    token: string,
  ): Promise<CommandOutcome<unknown>> {
    const [email] = this.accountOf(actor);
    const problem = describePasswordProblem(passwords.newPassword, email);
    if (problem !== null) throw invalid({ path: "/new_password", message: problem });
    const { writes } = this.options;
    await this.confirm(actor, passwords.current, source);
    const passwordHash = await hashPassword(passwords.newPassword, email);
    const id = author.userId as string;
    return writes.run("user.set_password", { id, passwordHash, keptHash: hashSessionToken(token) }, author);
  }

  /**
   * Verifies the caller's password again.
   * @throws DomainError auth_invalid_credentials; rate_limit_exceeded
   */
  async confirm(actor: Actor, password: string, source: string): Promise<void> {
    const [email] = this.accountOf(actor);
    // A stolen session must not allow guessing the password.
    await this.throttled(email, source, wrongPassword, () => verifyPassword(password, this.accountOf(actor)[1], true));
  }

  /** Read again after a wait: the user may have been deleted. */
  private accountOf({ userN }: Actor): readonly [email: string, hash: string | null] {
    return (this.options.reader.statement(PASSWORD_SQL).values(userN)[0] ?? ["", null]) as [string, string | null];
  }

  /** Opens a session, always with a new token, which defeats session fixation. */
  private async open(
    userId: string,
    passwordHash: string,
    replaces: string | null,
    call: OriginCall,
  ): Promise<SignedIn> {
    const { reader, writes, gate, clock, random } = this.options;
    const token = generateSessionToken(random);
    const opening: SessionOpening = {
      hash: hashSessionToken(token),
      userId,
      at: clock.now(),
      passwordHash,
      replaces: replaces === null ? null : hashSessionToken(replaces),
      origin: originOf(call),
    };
    await writes.run("session.open", opening, SYSTEM_AUTHOR);
    return { actor: gate.actorOfUser(reader.recordN(userId) as number), userId, token };
  }

  /**
   * Runs a verification, unless throttled, and counts its result.
   * @param verify may run seconds later; returns false for a wrong secret
   */
  private async throttled<Verified>(
    account: string,
    source: string,
    makeError: () => DomainError,
    verify: () => Promise<Verified | false>,
  ): Promise<Verified> {
    const { throttle } = this.options;
    const rejection = await throttle.enter(account, source);
    if (rejection !== null) {
      const { retryAfterSeconds, isOverloaded } = rejection;
      const reason = isOverloaded ? "Too many attempts at once" : "Too many failed attempts";
      throw new DomainError("rate_limit_exceeded", `${reason}; try again in ${retryAfterSeconds} s.`, {
        retry_after_seconds: retryAfterSeconds,
      });
    }
    let verified: Verified | false;
    try {
      verified = await verify();
    } catch (error) {
      throttle.abandoned(account, source);
      throw error;
    }
    if (verified === false) {
      throttle.failed(account, source);
      throw makeError();
    }
    throttle.succeeded(account, source);
    return verified;
  }
}

function wrongPassword(): DomainError {
  return new DomainError("auth_invalid_credentials", "The current password is wrong.", {});
}

function wrongSetupToken(): DomainError {
  return new DomainError(
    "auth_invalid_credentials",
    "The set-up token is wrong. The appliance prints a new one each time it starts.",
    {},
  );
}
