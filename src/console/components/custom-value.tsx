// Custom field value: a link for URLs, otherwise text.

import { customFieldOf } from "../names/custom-fields.ts";

/** @param field such as `custom_fields.rack` */
export function CustomValue({ field, value }: { readonly field: string; readonly value: unknown }) {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean") return <>{value ? "yes" : "no"}</>;
  if (typeof value === "number") return <span class="tabular">{value}</span>;
  const text = String(value);
  // Links with other schemes could execute code.
  if (customFieldOf(field)?.type === "url" && /^https?:\/\//i.test(text))
    return (
      <a class="value" href={text} target="_blank" rel="noopener noreferrer" title={text}>
        <bdi>{text}</bdi>
      </a>
    );
  return (
    <bdi class="value" title={text}>
      {text}
    </bdi>
  );
}
