// Input for the reason for a change. States up front whether a reason is required.

import { REASON_MAX_LENGTH } from "#limits";
import { isReasonRequired } from "./reason.ts";
import { Row } from "./row.tsx";

interface ReasonRowProps {
  readonly id: string;
  /** Defaults to "Why"; replaced where a reason is required. */
  readonly label?: string | undefined;
  readonly reason: string;
  /** Use of the reason. */
  readonly help?: string | undefined;
  /** Error; null for none. */
  readonly error?: string | null;
  /** Defaults to the organization's setting; scans never require a reason. */
  readonly isRequired?: boolean;
  onReason(reason: string): void;
}

/** Whitespace does not count. */
const NOT_BLANK = ".*\\S.*";

export function ReasonRow({ id, label = "Why", reason, help = "", error = null, ...rest }: ReasonRowProps) {
  const { isRequired = isReasonRequired(), onReason } = rest;
  const helpText = [isRequired ? "Your organization requires a reason for every change." : "", help]
    .filter(Boolean)
    .join(" ");
  return (
    <Row
      id={id}
      label={isRequired ? "Why (required)" : label}
      help={helpText || null}
      error={error}
      control={(described) => (
        <input
          {...described}
          type="text"
          maxLength={REASON_MAX_LENGTH}
          required={isRequired}
          pattern={isRequired ? NOT_BLANK : undefined}
          autoComplete="off"
          dir="auto"
          value={reason}
          onInput={(event) => onReason(event.currentTarget.value)}
        />
      )}
    />
  );
}
