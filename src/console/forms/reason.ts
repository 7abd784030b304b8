// Change reason: its header encoding, and whether it is required.

import { me } from "../session/me.ts";

/** X-Change-Reason in the encoding of RFC 8187; empty without a reason. */
export function reasonHeader(reason: string): Record<string, string> {
  const trimmed = reason.trim();
  return trimmed === "" ? {} : { "X-Change-Reason": `UTF-8''${encodedReason(trimmed)}` };
}

/** Whether the organization requires a reason for every change. */
export function isReasonRequired(): boolean {
  return me.value?.organization.require_change_reason === true;
}

/** Whether a change would be rejected for a missing reason. */
export function lacksReason(reason: string): boolean {
  return isReasonRequired() && reason.trim() === "";
}

function encodedReason(reason: string): string {
  return encodeURIComponent(reason).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
