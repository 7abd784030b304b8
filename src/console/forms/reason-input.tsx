// Field for the reason of a change. Indicates up front whether a reason is required.

import { REASON_MAX_LENGTH } from "#limits";
import { isReasonDemanded } from "./reason.ts";
import { Row } from "./row.tsx";

interface ReasonRowProps {
  readonly id: string;
  /** By default a short word. Replaced where a reason is required. */
  readonly label?: string | undefined;
  readonly reason: string;
  /** Use of the reason. */
  readonly help?: string | undefined;
  /** Error; null for none. */
  readonly wrong?: string | null;
  /** By default, as the organization says; scans never require one. */
  readonly isDemanded?: boolean;
  onReason(reason: string): void;
}

/** Whitespace does not count. */
const NOT_BLANK = ".*\\S.*";

export function ReasonRow({ id, label = "Why", reason, help = "", wrong = null, ...about }: ReasonRowProps) {
  const { isDemanded = isReasonDemanded(), onReason } = about;
  const said = [isDemanded ? "Your organization requires a reason for every change." : "", help]
    .filter(Boolean)
    .join(" ");
  return (
    <Row
      id={id}
      label={isDemanded ? "Why (required)" : label}
      help={said || null}
      wrong={wrong}
      control={(described) => (
        <input
          {...described}
          type="text"
          maxLength={REASON_MAX_LENGTH}
          required={isDemanded}
          pattern={isDemanded ? NOT_BLANK : undefined}
          autoComplete="off"
          dir="auto"
          value={reason}
          onInput={(event) => onReason(event.currentTarget.value)}
        />
      )}
    />
  );
}
