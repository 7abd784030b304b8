// Routes for /api/auth: first setup, sign-in and sign-out, the current user, and the user's own password.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, invalidCredentials, VIEWER } from "../access/actor.ts";
import { PASSWORD_MAX_LENGTH } from "../access/password.ts";
import { ROLES } from "../access/role.ts";
import type { Reader } from "../db/reading/reader.ts";
import { SIGN_IN_BODY_LIMIT_BYTES } from "../http/body.ts";
import type { RequestContext } from "../http/request.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend } from "../records/backend.ts";
import { setOutcomeHeaders } from "../records/write-responses.ts";
import { appendMembers } from "../resources/compose.ts";
import { networkKind } from "../resources/networks/network.ts";
import { ORGANIZATION_EXAMPLE, Organization, organizationKind } from "../resources/organizations/organization.ts";
import { Email, Password, USER_EXAMPLE, User, userKind } from "../resources/users/user.ts";
import { composeUsers } from "../resources/users/user-view.ts";
import { successResponse } from "../schemas/envelope.ts";
import { Body, Name, Nullable, OneOf, Uuid } from "../schemas/schemas.ts";
import { type AccessGate, assertOrigin, SESSION_COOKIE, sessionToken } from "./gate.ts";
import type { Account, SignIn } from "./sign-in.ts";

/**
 * Maximum cookie lifetime in browsers (RFC 6265bis §5.5: 400 days). The appliance itself expires a session after seven
 * days without use; a seven-day cookie would end sessions still in use.
 */
export const COOKIE_MAX_AGE_SECONDS = 400 * 24 * 60 * 60;

const SETUP_TOKEN_MAX_LENGTH = 255;

const Claim = Body({
  setup_token: Type.String({
    minLength: 1,
    maxLength: SETUP_TOKEN_MAX_LENGTH,
    writeOnly: true,
    description: "Printed by the appliance at each start, new each time. Case, hyphens and spaces do not matter.",
  }),
  organization_name: Name,
  network_name: Name,
  name: Type.Optional(Type.String({ ...Name, description: "The Owner's name; default: their e-mail address." })),
  email: Email,
  password: Password,
});
const Claimed = Type.Object({ user: User, organization_id: Uuid, network_id: Uuid }, { $id: "Claimed" });
const SetupState = Type.Object({
  needed: Type.Boolean({ description: "Whether the appliance is still unclaimed." }),
});

/** Any string may be tried; password rules apply only to new passwords. */
const TypedPassword = Type.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH, writeOnly: true });
const Credentials = Body({ email: Email, password: TypedPassword });
const PasswordChange = Body({ current_password: TypedPassword, new_password: Password });

const Me = Type.Object(
  {
    ...User.properties,
    organization: Organization,
    authenticated_by: OneOf(["Session", "ApiKey"]),
    api_key_id: Nullable(Uuid, { description: "The API key of this request; null for a sign-in." }),
    effective_role: OneOf(ROLES, {
      description: "The role that applies: for an API key the lower of its own and its user's.",
    }),
    reachable_network_ids: Type.Array(Uuid, { description: "The networks that the caller reaches." }),
    permitted_operations: Type.Array(Type.String(), {
      description:
        "The ids of the operations that the caller may use, as in this document, alphabetically. A request may still be refused because of its target or of the permissions it would grant. While a backup is served: only reads, and opening and ending sessions.",
    }),
  },
  { $id: "Me" },
);

const group = "Access";
const anyone = "anyone" as const;
const session: Access = { role: "Viewer", sessionOnly: true };
/** The Owner created by the first setup, who sends the examples. */
const OWNER_EXAMPLE = {
  ...USER_EXAMPLE,
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0007",
  email: "noc@example.net",
  name: "Network operations",
  role: "Owner",
  network_ids: [],
};
const signInExample = { email: OWNER_EXAMPLE.email, password: "a phrase of their own" };
const network_id = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002";
const ME_EXAMPLE = {
  ...OWNER_EXAMPLE,
  organization: ORGANIZATION_EXAMPLE,
  authenticated_by: "Session",
  api_key_id: null,
  effective_role: OWNER_EXAMPLE.role,
  reachable_network_ids: [network_id],
  permitted_operations: ["assignTags", "changePassword", "confirmIpAddress"],
};
const CLAIM_EXAMPLE = {
  body: {
    setup_token: "7K3M-0QXZ-V9T2-H4RC-8WJP-5NDF-1BGY",
    organization_name: ORGANIZATION_EXAMPLE.name,
    network_name: "Campus North",
    ...signInExample,
  },
  data: { user: OWNER_EXAMPLE, organization_id: USER_EXAMPLE.organization_id, network_id },
};

/**
 * /api/auth: first setup, sign-in and sign-out, the current user, and the user's own password.
 * @param isReadOnly whether a backup is being served
 */
export function signInRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend,
  signIn: SignIn,
  gate: Pick<AccessGate, "mayAsk">,
  isReadOnly: boolean,
): void {
  const { reader, authorOf } = backend;
  surface
    .get(
      "/api/auth/setup",
      {
        operationId: "getSetup",
        summary: "Check whether the appliance is set up",
        description:
          "An unclaimed appliance has no organization, and refuses every operation that needs authentication.",
        group,
        access: anyone,
        responseSchema: SetupState,
        example: { data: { needed: false } },
      },
      (call) => successResponse(call, JSON.stringify({ needed: signIn.setupNeeded() })),
    )
    .post(
      "/api/auth/setup",
      {
        operationId: "setUp",
        summary: "Claim the appliance",
        description: "Works once: creates the organization, its first network and its Owner, and signs in.",
        group,
        access: anyone,
        setsCookie: true,
        bodyLimitBytes: SIGN_IN_BODY_LIMIT_BYTES,
        body: Claim,
        responseSchema: Claimed,
        errors: ["auth_invalid_credentials", "auth_origin_rejected", "entity_already_exists"],
        example: CLAIM_EXAMPLE,
      },
      async (call) => {
        assertOrigin(call.request);
        const { requestId, reason } = call;
        const claimed = await signIn.claim(call.body, call, { requestId, reason });
        setOutcomeHeaders(call, claimed);
        const { actor, userId, organizationId, networkId, token } = claimed;
        logAccount(call, { id: userId, email: call.body.email });
        setSessionCookie(call, token);
        const user = userText(userId, actor);
        const data = `{"user":${user},"organization_id":"${organizationId}","network_id":"${networkId}"}`;
        return successResponse(call, data);
      },
    )
    .post(
      "/api/auth/login",
      {
        operationId: "signIn",
        isRecord: false,
        changesSessionsOnly: true,
        writesNoTransaction: true,
        summary: "Sign in",
        description:
          "A session ends after seven days without use. Each failed attempt makes the next one wait longer, per account and source address.",
        group,
        access: anyone,
        setsCookie: true,
        bodyLimitBytes: SIGN_IN_BODY_LIMIT_BYTES,
        body: Credentials,
        responseSchema: User,
        errors: ["auth_invalid_credentials", "auth_origin_rejected"],
        example: { body: signInExample, data: OWNER_EXAMPLE },
      },
      async (call) => {
        assertOrigin(call.request);
        const { actor, userId, token } = await signIn.signIn(
          call.body.email,
          call.body.password,
          call,
          cookieOf(call),
          (account) => logAccount(call, account),
        );
        setSessionCookie(call, token);
        return successResponse(call, userText(userId, actor));
      },
    )
    .post(
      "/api/auth/logout",
      {
        operationId: "signOut",
        changesSessionsOnly: true,
        writesNoTransaction: true,
        summary: "Sign out",
        description: "Ends this session and clears its cookie. Other sessions and API keys stay valid.",
        group,
        access: session,
        setsCookie: true,
        responseSchema: Type.Object({}),
        example: { data: {} },
      },
      async (call) => {
        await signIn.signOut(cookieOf(call) as string, authorOf(call));
        call.setCookie(SESSION_COOKIE, "", { maxAge: 0, secure: isTls(call) });
        return successResponse(call, "{}");
      },
    )
    .get(
      "/api/auth/me",
      {
        operationId: "getMe",
        isRecord: false,
        summary: "Get the current user",
        description: "The user, and the permissions of this request.",
        group,
        access: VIEWER,
        responseSchema: Me,
        example: { data: ME_EXAMPLE },
      },
      (call) =>
        reader.snapshot(() => {
          const author = authorOf(call);
          const user = userText(author.userId as string, call.actor);
          const organization = reader.find(organizationKind, author.organizationId, call.actor, null)?.text ?? "null";
          const isKey = call.actor.type === "ApiKey";
          const rest = JSON.stringify({
            authenticated_by: isKey ? "ApiKey" : "Session",
            api_key_id: isKey ? author.id : null,
            effective_role: author.role,
            reachable_network_ids: author.networkIds ?? reachableNetworkIds(reader, call.actor),
            permitted_operations: permittedOperations(call.actor),
          });
          return successResponse(call, appendMembers(user, `"organization":${organization},${rest.slice(1, -1)}`));
        }),
    )
    .put(
      "/api/auth/password",
      {
        operationId: "changePassword",
        ignoresIdempotencyKey: true,
        isRecord: false,
        summary: "Change your password",
        description: "Ends all other sessions; API keys stay valid.",
        group,
        access: session,
        body: PasswordChange,
        responseSchema: User,
        errors: ["auth_invalid_credentials"],
        example: {
          body: { current_password: signInExample.password, new_password: "another phrase of their own" },
          data: OWNER_EXAMPLE,
        },
      },
      async (call) => {
        const { current_password: current, new_password: newPassword } = call.body;
        const author = authorOf(call);
        const token = cookieOf(call) as string;
        setOutcomeHeaders(
          call,
          await signIn.changePassword(call.actor, author, { current, newPassword }, call.source, token),
        );
        return successResponse(call, userText(author.userId as string, call.actor));
      },
    );

  function userText(userId: string, actor: Actor): string {
    return reader.snapshot(() => {
      const found = reader.find(userKind, userId, actor, null);
      // Deleted at this very moment.
      if (found === null) throw invalidCredentials();
      return composeUsers(reader, actor)([found], null)[0] as string;
    });
  }

  function permittedOperations(actor: Actor): string[] {
    // Cached: operations share their access rules.
    const cache = new Map<unknown, boolean>([["anyone", true]]);
    const isPermitted = (access: unknown) => {
      const isAllowed = cache.get(access) ?? gate.mayAsk(actor, access as Access);
      cache.set(access, isAllowed);
      return isAllowed;
    };
    return surface.routes
      .filter(({ method, operation }) => !isReadOnly || method === "GET" || operation.changesSessionsOnly === true)
      .filter(({ operation }) => isPermitted(operation.access))
      .map(({ operation }) => operation.operationId)
      .sort();
  }
}

function reachableNetworkIds(reader: Reader, actor: Actor): string[] {
  const networks = reader.items({ kind: networkKind, reach: actor, asOf: null, limit: 0, offset: 0 });
  return reader.recordIds(networks.map((network) => network.n));
}

/**
 * Whether the browser connected over TLS, possibly terminated by a proxy that sets X-Forwarded-Proto; the first of
 * several values is the browser's connection. Trusting it from everyone is harmless: a false claim only makes the
 * sender's own cookie unusable without TLS.
 */
export function isTls(call: Pick<RequestContext, "request" | "isTls">): boolean {
  if (call.isTls) return true;
  const [nearest = ""] = call.request.headers.get("x-forwarded-proto")?.split(",", 1) ?? [];
  return nearest.trim().toLowerCase() === "https";
}

/** Logs the account signed in to or tried; nothing for an unknown name, since users type passwords there. */
function logAccount(call: RequestContext, account: Account | null): void {
  Object.assign(call.logFields, { account_id: account?.id ?? null, account: account?.email ?? null });
}

function setSessionCookie(call: RequestContext, token: string): void {
  call.setCookie(SESSION_COOKIE, token, { maxAge: COOKIE_MAX_AGE_SECONDS, secure: isTls(call) });
}

function cookieOf(call: RequestContext): string | null {
  return sessionToken(call.request.headers.get("cookie"));
}
