// Why something is written, as a header takes it.

/** As the API takes one. */
export const REASON_MAX_LENGTH = 500;

/** X-Change-Reason, in the form that headers have for any text (RFC 8187); nothing for none. */
export function reasonHeader(reason: string): Record<string, string> {
  const said = reason.trim();
  return said === "" ? {} : { "X-Change-Reason": `UTF-8''${encodedReason(said)}` };
}

function encodedReason(reason: string): string {
  return encodeURIComponent(reason).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
