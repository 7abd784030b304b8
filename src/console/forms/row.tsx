// Form row: label, control, error and help, associated with each other for assistive technology.

import type { ComponentChildren } from "preact";

/** Attributes for a control. A type alias rather than an interface, so that it is assignable to any record. */
type Described = Readonly<
  Record<"id", string> & Record<"aria-describedby", string | undefined> & Record<"aria-invalid", boolean>
>;

interface RowProps {
  /** Element id of the control. */
  readonly id: string;
  readonly label: string;
  readonly help?: ComponentChildren;
  /** Error; null for none. */
  readonly error?: ComponentChildren;
  control(described: Described): ComponentChildren;
  /** Content below the help. */
  readonly children?: ComponentChildren;
}

export function Row({ id, label, help = null, error = null, control, children }: RowProps) {
  const describedBy = [help === null ? "" : `${id}-help`, error === null ? "" : `${id}-error`]
    .filter(Boolean)
    .join(" ");
  return (
    <div class="edit-field">
      <label for={id}>{label}</label>
      <div>
        {control({ id, "aria-describedby": describedBy || undefined, "aria-invalid": error !== null })}
        {error !== null && (
          <div class="edit-error" id={`${id}-error`}>
            {error}
          </div>
        )}
        {help !== null && (
          <div class="aside" id={`${id}-help`}>
            {help}
          </div>
        )}
        {children}
      </div>
    </div>
  );
}

/** Several errors of one field. */
export function Sentences({ sentences }: { readonly sentences: readonly string[] }) {
  return (
    <>
      {sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </>
  );
}
