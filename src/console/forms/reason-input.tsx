// Input for the reason of a change. Indicates up front whether a reason is required.

import { reasonText } from "../text/editing.ts";
import { isReasonDemanded, REASON_MAX_LENGTH } from "./reason.ts";

interface ReasonInputProps {
  readonly id: string;
  readonly reason: string;
  /** Use of the reason. */
  readonly help?: string;
  onReason(reason: string): void;
}

/** As a line of its own. */
export function ReasonLine(props: ReasonInputProps) {
  return (
    <p class="plan-reason">
      <ReasonLabel id={props.id} />
      <ReasonControl {...props} />
      <ReasonHelp {...props} />
    </p>
  );
}

/** As a row among form fields. */
export function ReasonRow(props: ReasonInputProps) {
  return (
    <div class="edit-field">
      <ReasonLabel id={props.id} />
      <div>
        <ReasonControl {...props} />
        <ReasonHelp {...props} />
      </div>
    </div>
  );
}

function ReasonLabel({ id }: Pick<ReasonInputProps, "id">) {
  return <label for={id}>{isReasonDemanded() ? reasonText.demanded : reasonText.why}</label>;
}

function ReasonControl({ id, reason, help, onReason }: ReasonInputProps) {
  const isDemanded = isReasonDemanded();
  return (
    <input
      id={id}
      type="text"
      maxLength={REASON_MAX_LENGTH}
      required={isDemanded}
      aria-describedby={isDemanded || help !== undefined ? `${id}-help` : undefined}
      value={reason}
      onInput={(event) => onReason(event.currentTarget.value)}
    />
  );
}

function ReasonHelp({ id, help }: Pick<ReasonInputProps, "id" | "help">) {
  const said = [isReasonDemanded() ? reasonText.demands : "", help ?? ""].filter(Boolean);
  if (said.length === 0) return null;
  return (
    <span class="aside reason-help" id={`${id}-help`}>
      {said.join(" ")}
    </span>
  );
}
