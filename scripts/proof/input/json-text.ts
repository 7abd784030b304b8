// JSON documents that no JavaScript value yields: duplicate keys, lone surrogates, numbers of ten thousand digits.

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** Node in the tree of a JSON text; `raw` is written verbatim. */
type JsonNode =
  | { readonly raw: string }
  | { readonly items: readonly JsonNode[] }
  | { readonly members: readonly (readonly [string, JsonNode])[] };

/** Mutation at one location of a text. `location` and `other` are numbers, modulo the count of locations. */
export interface Mutation {
  readonly kind: (typeof MUTATIONS)[number];
  readonly location: number;
  readonly other: number;
  /** JSON to insert. */
  readonly raw: string;
  /** Key of an added or renamed member. */
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

export function toNode(value: JsonValue): JsonNode {
  if (Array.isArray(value)) return { items: value.map(toNode) };
  if (value !== null && typeof value === "object")
    return { members: Object.entries(value).map(([key, member]) => [key, toNode(member)] as const) };
  return { raw: JSON.stringify(value) };
}

export function textOf(node: JsonNode): string {
  if ("raw" in node) return node.raw;
  if ("items" in node) return `[${node.items.map(textOf).join(",")}]`;
  // Keys may contain lone surrogates too: JSON.stringify escapes them.
  return `{${node.members.map(([key, member]) => `${JSON.stringify(key)}:${textOf(member)}`).join(",")}}`;
}

export function applyMutations(node: JsonNode, mutations: readonly Mutation[]): JsonNode {
  return mutations.reduce(mutate, node);
}

function mutate(root: JsonNode, mutation: Mutation): JsonNode {
  const locations = locationsOf(root);
  const location = locations[mutation.location % locations.length] as Location;
  const { node } = location;
  const inserted = { raw: mutation.raw };
  const replace = (replacement: JsonNode) => put(root, location, replacement);
  // Slightly above the limit, and far above.
  const depth = 10 + (mutation.other % 120);
  switch (mutation.kind) {
    case "replace":
      return replace(inserted);
    case "swap":
      return replace((locations[mutation.other % locations.length] as Location).node);
    case "wrapInArray":
      return replace({ items: [node] });
    case "wrapInObject":
      return replace({ members: [[mutation.key, node]] });
    case "nest":
      return replace({ raw: "[".repeat(depth) + textOf(node) + "]".repeat(depth) });
    case "add":
      if ("members" in node) return replace({ members: [...node.members, [mutation.key, inserted]] });
      return replace("items" in node ? { items: [...node.items, inserted] } : inserted);
    case "drop":
      return editParent(root, location, (items, n) => items.toSpliced(n, 1));
    case "repeat":
      return editParent(root, location, (items, n) => items.toSpliced(n, 0, items[n] as (typeof items)[number]));
    case "manyTimes":
      return editParent(root, location, (items, n) => [
        ...items,
        ...Array.from({ length: mutation.other % 2_000 }, () => items[n] as (typeof items)[number]),
      ]);
    case "rename": {
      const parent = locations[location.parent];
      if (parent === undefined || !("members" in parent.node)) return root;
      return put(root, parent, {
        members: parent.node.members.map((member, n) =>
          n === location.position ? ([mutation.key, member[1]] as const) : member,
        ),
      });
    }
  }
}

interface Location {
  readonly node: JsonNode;
  readonly path: readonly number[];
  /** Number of the parent location; -1 for the root. */
  readonly parent: number;
  readonly position: number;
}

function locationsOf(root: JsonNode): Location[] {
  const locations: Location[] = [{ node: root, path: [], parent: -1, position: 0 }];
  for (let number = 0; number < locations.length && locations.length < 5_000; number += 1) {
    const { node, path } = locations[number] as Location;
    childrenOf(node).forEach((child, position) => {
      locations.push({ node: child, path: [...path, position], parent: number, position });
    });
  }
  return locations;
}

function childrenOf(node: JsonNode): readonly JsonNode[] {
  if ("items" in node) return node.items;
  return "members" in node ? node.members.map(([, member]) => member) : [];
}

function put(root: JsonNode, { path }: { readonly path: readonly number[] }, node: JsonNode): JsonNode {
  const [first, ...rest] = path;
  if (first === undefined) return node;
  const within = (child: JsonNode, position: number) => (position === first ? put(child, { path: rest }, node) : child);
  if ("items" in root) return { items: root.items.map(within) };
  return "members" in root
    ? { members: root.members.map(([key, member], position) => [key, within(member, position)] as const) }
    : root;
}

function editParent(
  root: JsonNode,
  location: Location,
  change: <T>(items: readonly T[], position: number) => readonly T[],
): JsonNode {
  const parent = locationsOf(root)[location.parent];
  if (parent === undefined) return root;
  if ("items" in parent.node) return put(root, parent, { items: change(parent.node.items, location.position) });
  return "members" in parent.node
    ? put(root, parent, { members: change(parent.node.members, location.position) })
    : root;
}
