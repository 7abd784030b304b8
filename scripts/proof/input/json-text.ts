// JSON texts beyond JavaScript values: duplicate keys, lone surrogates, numbers of ten thousand digits.

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** A JSON text in pieces. `raw` is written verbatim. */
type Written =
  | { readonly raw: string }
  | { readonly items: readonly Written[] }
  | { readonly members: readonly (readonly [string, Written])[] };

/** Mutation of one place of a text. `at` and `other` are place numbers, modulo their count. */
export interface Mutation {
  readonly kind: (typeof MUTATIONS)[number];
  readonly at: number;
  readonly other: number;
  /** Inserted JSON. */
  readonly raw: string;
  /** A key. */
  readonly key: string;
}

export const MUTATIONS = [
  "replace",
  "drop",
  "repeat",
  "rename",
  "add",
  "wrapInArray",
  "wrapInObject",
  "swap",
  "manyTimes",
  "nest",
] as const;

export function written(value: JsonValue): Written {
  if (Array.isArray(value)) return { items: value.map(written) };
  if (value !== null && typeof value === "object")
    return { members: Object.entries(value).map(([key, each]) => [key, written(each)] as const) };
  return { raw: JSON.stringify(value) };
}

export function textOf(node: Written): string {
  if ("raw" in node) return node.raw;
  if ("items" in node) return `[${node.items.map(textOf).join(",")}]`;
  return `{${node.members.map(([key, each]) => `${keyText(key)}:${textOf(each)}`).join(",")}}`;
}

export function mutated(node: Written, mutations: readonly Mutation[]): Written {
  return mutations.reduce((now, mutation) => mutate(now, mutation), node);
}

/** Keys may contain lone surrogates too: JSON.stringify escapes them. */
function keyText(key: string): string {
  return JSON.stringify(key);
}

function mutate(root: Written, mutation: Mutation): Written {
  const places = placesOf(root);
  const place = places[mutation.at % places.length] as Place;
  const { node } = place;
  switch (mutation.kind) {
    case "replace":
      return put(root, place, { raw: mutation.raw });
    case "swap": {
      const other = places[mutation.other % places.length] as Place;
      return put(root, place, other.node);
    }
    case "wrapInArray":
      return put(root, place, { items: [node] });
    case "wrapInObject":
      return put(root, place, { members: [[mutation.key, node]] });
    case "nest":
      // Slightly above the limit, and far above.
      return put(root, place, {
        raw: "[".repeat(10 + (mutation.other % 120)) + textOf(node) + "]".repeat(10 + (mutation.other % 120)),
      });
    case "add":
      if ("members" in node)
        return put(root, place, { members: [...node.members, [mutation.key, { raw: mutation.raw }]] });
      if ("items" in node) return put(root, place, { items: [...node.items, { raw: mutation.raw }] });
      return put(root, place, { raw: mutation.raw });
    case "drop":
      return inParent(root, place, (items, at) => items.toSpliced(at, 1));
    case "repeat":
      return inParent(root, place, (items, at) => items.toSpliced(at, 0, items[at] as (typeof items)[number]));
    case "manyTimes":
      return inParent(root, place, (items, at) => [
        ...items,
        ...Array.from({ length: mutation.other % 2_000 }, () => items[at] as (typeof items)[number]),
      ]);
    case "rename": {
      const parent = places[place.parent];
      if (parent === undefined || !("members" in parent.node)) return root;
      return put(root, parent, {
        members: parent.node.members.map((member, at) =>
          at === place.position ? ([mutation.key, member[1]] as const) : member,
        ),
      });
    }
  }
}

interface Place {
  readonly node: Written;
  readonly path: readonly number[];
  /** Number of the parent place; -1 for the whole. */
  readonly parent: number;
  readonly position: number;
}

function placesOf(root: Written): Place[] {
  const places: Place[] = [{ node: root, path: [], parent: -1, position: 0 }];
  for (let number = 0; number < places.length && places.length < 5_000; number += 1) {
    const { node, path } = places[number] as Place;
    childrenOf(node).forEach((child, position) => {
      places.push({ node: child, path: [...path, position], parent: number, position });
    });
  }
  return places;
}

function childrenOf(node: Written): readonly Written[] {
  if ("items" in node) return node.items;
  return "members" in node ? node.members.map(([, each]) => each) : [];
}

function put(root: Written, { path }: { readonly path: readonly number[] }, node: Written): Written {
  const [first, ...rest] = path;
  if (first === undefined) return node;
  const within = (child: Written, position: number) => (position === first ? put(child, { path: rest }, node) : child);
  if ("items" in root) return { items: root.items.map(within) };
  return "members" in root
    ? { members: root.members.map(([key, each], position) => [key, within(each, position)] as const) }
    : root;
}

function inParent(root: Written, place: Place, change: <T>(items: readonly T[], at: number) => readonly T[]): Written {
  const parent = placesOf(root)[place.parent];
  if (parent === undefined) return root;
  if ("items" in parent.node) return put(root, parent, { items: change(parent.node.items, place.position) });
  return "members" in parent.node ? put(root, parent, { members: change(parent.node.members, place.position) }) : root;
}
