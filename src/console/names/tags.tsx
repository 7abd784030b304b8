// A record's tags with their colors, linked to a list of the tagged records where the page provides one.

import { useContext } from "preact/hooks";
import { at } from "../time/at.ts";
import { NamedAsOf } from "./named.tsx";
import { nameOf, tagColor } from "./names.ts";
import { shownName } from "./shown-name.ts";

interface TagsProps {
  readonly ids: readonly string[];
  /** URL of the records with a tag; without it, tags are not linked. */
  readonly hrefOf?: (name: string) => string;
  /** Instant other than that of the surrounding content. */
  readonly as?: string | null | undefined;
}

export function Tags({ ids, hrefOf, as: ownInstant }: TagsProps) {
  const context = useContext(NamedAsOf);
  const as = ownInstant !== undefined ? ownInstant : context !== null ? context.at : at.value;
  return (
    <span class="tags">
      {ids.map((id) => (
        <Tag key={id} id={id} as={as} hrefOf={hrefOf} />
      ))}
    </span>
  );
}

interface TagProps {
  readonly id: string;
  readonly as: string | null;
  readonly hrefOf: ((name: string) => string) | undefined;
}

function Tag({ id, as, hrefOf }: TagProps) {
  const name = nameOf("tag", id, as);
  const color = tagColor(id, as);
  const label = (
    <>
      <span class={`tag-color tag-${color ?? "Gray"}`} aria-hidden="true" />
      <bdi>{name === undefined ? "…" : shownName(id, name)}</bdi>
    </>
  );
  if (!name || hrefOf === undefined)
    return (
      <span class="tag" title={name || id}>
        {label}
      </span>
    );
  return (
    <a class="tag" href={hrefOf(name)} title={name}>
      {label}
    </a>
  );
}
