// Which page an address is of. Plain functions.

export interface RouteMatch<Path extends string> {
  readonly path: Path;
  /** What stands for the names in the route, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** The route of a path; null where there is none. `/hosts/` is `/hosts`. */
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
