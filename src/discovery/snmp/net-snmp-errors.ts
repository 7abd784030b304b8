// Mapping of net-snmp errors to failures of a device. Pure.

import { ResponseInvalidCode } from "net-snmp";
import { ownValue } from "../../base/fields.ts";
import { failure, type SnmpFailure } from "./failure.ts";

interface Verdict {
  readonly failure: SnmpFailure;
  /**
   * True if a retry is useless because the agent itself reported the error. A mismatched response may belong to another
   * request.
   */
  readonly isCertain: boolean;
}

/** @param hasContext true if a context other than the default was requested */
export function verdictOf(error: Error & { readonly code?: number }, hasContext: boolean): Verdict {
  switch (error.code) {
    case ResponseInvalidCode.EAuthFailure:
      return (
        ownValue(REPORTS, error.message) ?? {
          failure: failure("garbage", "its responses are not authenticated with this password"),
          isCertain: false,
        }
      );
    case ResponseInvalidCode.EUnexpectedReport:
      return {
        failure: failure(
          "unsupported",
          hasContext ? "the device does not serve the context" : "the device does not accept requests of this kind",
        ),
        isCertain: true,
      };
    case ResponseInvalidCode.ECouldNotDecrypt:
      return { failure: failure("wrong_password", PRIVACY), isCertain: false };
    case NOT_IN_TIME_WINDOW:
      return { failure: failure("garbage", "its responses are outside the time window"), isCertain: false };
    case ResponseInvalidCode.EVersionNoMatch:
      return { failure: failure("unsupported", "it responds with another SNMP version"), isCertain: false };
    default:
      return { failure: failure("garbage"), isCertain: false };
  }
}

/** ResponseInvalidCode.ENotInTimeWindow, which the type declarations lack. */
const NOT_IN_TIME_WINDOW = 14;

const PRIVACY = "the privacy password or protocol is wrong";

/** usmStats reports (RFC 3414 §5), by net-snmp's message. */
const REPORTS: Readonly<Record<string, Verdict>> = {
  "Unsupported Security Level": {
    failure: failure("unsupported", "the user has another security level, with other passwords or protocols"),
    isCertain: true,
  },
  "Unknown User Name": { failure: failure("wrong_user"), isCertain: true },
  "Wrong Digest (incorrect password, community or key)": { failure: failure("wrong_password"), isCertain: true },
  "Decryption Error": { failure: failure("wrong_password", PRIVACY), isCertain: true },
  "Not In Time Window": { failure: failure("garbage", "its engine time keeps changing"), isCertain: true },
  "Unknown Engine ID": { failure: failure("garbage", "its engine id keeps changing"), isCertain: true },
};
