// Route matching. Pure.

export interface RouteMatch<Path extends string> {
  readonly path: Path;
  /** Decoded values of the route parameters. */
  readonly params: Readonly<Record<string, string>>;
}

/** Route that matches a path; null if none does. `/hosts/` matches `/hosts`. */
export function routeOf<Path extends string>(paths: readonly Path[], pathname: string): RouteMatch<Path> | null {
  const actual = partsOf(pathname);
  for (const path of paths) {
    const expected = partsOf(path);
    if (expected.length !== actual.length) continue;
    const params: Record<string, string> = {};
    const matches = expected.every((part, index) => {
      const segment = actual[index] ?? "";
      if (!part.startsWith(":")) return part === segment;
      const decoded = decodePart(segment);
      if (decoded === null) return false;
      params[part.slice(1)] = decoded;
      return true;
    });
    if (matches) return { path, params };
  }
  return null;
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

function decodePart(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
