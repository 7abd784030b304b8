// Route matching. Pure.

export interface RouteMatch<Path extends string> {
  readonly path: Path;
  /** Decoded values of the route parameters. */
  readonly params: Readonly<Record<string, string>>;
}

/** Matching route of a path; null without one. `/hosts/` matches `/hosts`. */
export function routeOf<Path extends string>(paths: readonly Path[], pathname: string): RouteMatch<Path> | null {
  const have = partsOf(pathname);
  for (const path of paths) {
    const want = partsOf(path);
    if (want.length !== have.length) continue;
    const params: Record<string, string> = {};
    const fits = want.every((part, position) => {
      const given = have[position] ?? "";
      if (!part.startsWith(":")) return part === given;
      const decoded = decodedPart(given);
      if (decoded === null) return false;
      params[part.slice(1)] = decoded;
      return true;
    });
    if (fits) return { path, params };
  }
  return null;
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

function decodedPart(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
