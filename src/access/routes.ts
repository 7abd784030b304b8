// /api/auth: claiming the appliance, signing in and out, who one is, one's own password.

import { Type } from "@sinclair/typebox";
import { SERVER_VERSION, successBody } from "../http/envelope.ts";
import { Body, Name, Nullable, OneOf, Timestamp, Uuid } from "../http/schemas.ts";
import type { RequestContext, Surface } from "../http/surface.ts";
import { spliced, writtenRecord, type Inventory } from "../resources/answers.ts";
import { networkKind } from "../resources/networks/network.ts";
import { Organization, ORGANIZATION_EXAMPLE, organizationKind } from "../resources/organizations/organization.ts";
import { composeUsers } from "../resources/users/user-view.ts";
import { Email, Password, User, USER_EXAMPLE, userKind } from "../resources/users/user.ts";
import { VIEWER, type Access, type Actor } from "./actor.ts";
import { assertOrigin, SESSION_COOKIE, sessionToken } from "./gate.ts";
import { PASSWORD_MAX_LENGTH } from "./password.ts";
import { ROLES } from "./role.ts";
import type { SignIn } from "./sign-in.ts";

/**
 * The longest that browsers keep a cookie (RFC 6265bis §5.5: 400 days). The session ends earlier, by the appliance's own clock, after
 * seven days without use: a cookie that went after seven days would end sessions that are in use.
 */
export const COOKIE_MAX_AGE_SECONDS = 400 * 24 * 60 * 60;
