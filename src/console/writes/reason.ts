// Why something is written, as a header takes it, and whether it has to be said.

import { me } from "../session/me.ts";

/** As the API takes one. */
export const REASON_MAX_LENGTH = 500;

/** X-Change-Reason, in the form that headers have for any text (RFC 8187); nothing for none. */
export function reasonHeader(reason: string): Record<string, string> {
  const said = reason.trim();
  return said === "" ? {} : { "X-Change-Reason": `UTF-8''${encodedReason(said)}` };
}

/** Whether the organization demands a reason for every change. */
export function isReasonDemanded(): boolean {
  return me.value?.organization.require_change_reason === true;
}

/** Whether a change would be refused for want of a reason. */
export function lacksReason(reason: string): boolean {
  return isReasonDemanded() && reason.trim() === "";
}

function encodedReason(reason: string): string {
  return encodeURIComponent(reason).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
