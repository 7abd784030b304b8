// Row of a form: label, control, error and help. Associates them for assistive technology.

import type { ComponentChildren } from "preact";

/** Attributes of a control. A type, so that it is assignable to any record. */
type Described = Readonly<
  Record<"id", string> & Record<"aria-describedby", string | undefined> & Record<"aria-invalid", boolean>
>;

interface RowProps {
  /** Element id of the control. */
  readonly id: string;
  readonly label: string;
  readonly help?: ComponentChildren;
  /** Error; null for none. */
  readonly wrong?: ComponentChildren;
  control(described: Described): ComponentChildren;
  /** Content below the help. */
  readonly children?: ComponentChildren;
}

export function Row({ id, label, help = null, wrong = null, control, children }: RowProps) {
  const about = [help === null ? "" : `${id}-help`, wrong === null ? "" : `${id}-wrong`].filter(Boolean).join(" ");
  return (
    <div class="edit-field">
      <label for={id}>{label}</label>
      <div>
        {control({ id, "aria-describedby": about || undefined, "aria-invalid": wrong !== null })}
        {wrong !== null && (
          <div class="edit-wrong" id={`${id}-wrong`}>
            {wrong}
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
