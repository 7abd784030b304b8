// Server that follows the documentation of phpIPAM's API: numbers as texts, and 404 for a list without objects.

type Row = Readonly<Record<string, unknown>>;

/** Rows in API format: all values are texts or null. */
export interface PhpipamWorld {
  sections: Row[];
  subnets: Row[];
  vlans: Row[];
  devices: Row[];
  addresses: Row[];
  tags: Row[];
  locations: Row[];
  /** Columns by list, `subnets`, and by name. */
  columns?: Readonly<Record<string, Readonly<Record<string, Row>>>>;
}

export interface FakePhpipam {
  readonly url: string;
  stop(): Promise<void>;
}

export const PHPIPAM_APP = "netledger";

/** @param intercept its result replaces the answer */
export function servePhpipam(
  world: PhpipamWorld,
  token: string,
  intercept: (path: string) => Response | null = () => null,
): FakePhpipam {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      const instead = intercept(pathname);
      if (instead !== null) return instead;
      const [, app, path] = /^\/api\/([^/]+)(\/.*)$/.exec(pathname) ?? [];
      if (app !== PHPIPAM_APP) return refused(400, "Invalid application id");
      if (request.headers.get("token") !== token) return refused(403, "Invalid token");
      const columns = /^\/(\w+)\/custom_fields\/$/.exec(path ?? "")?.[1];
      if (columns !== undefined) {
        const data = world.columns?.[columns];
        if (data === undefined) return refused(404, "No custom fields defined");
        return Response.json({ code: 200, success: true, data, time: 0.001 });
      }
      const rows = rowsOf(world, path ?? "");
      if (rows === null) return refused(400, "Invalid controller");
      if (rows.length === 0) return refused(404, "No objects found");
      return Response.json({ code: 200, success: true, data: rows, time: 0.004 });
    },
  });
  return { url: server.url.href.replace(/\/$/, ""), stop: () => server.stop(true) };
}

function rowsOf(world: PhpipamWorld, path: string): Row[] | null {
  const [, controller = "", id = "", part = ""] = path.split("/");
  if (path === "/tools/tags/") return world.tags;
  if (path === "/tools/locations/") return world.locations;
  if (path === "/vlan/") return world.vlans;
  if (path === "/devices/") return world.devices;
  if (path === "/sections/") return world.sections;
  if (controller === "sections" && part === "subnets") return world.subnets.filter((each) => each.sectionId === id);
  if (controller === "subnets" && part === "addresses") return world.addresses.filter((each) => each.subnetId === id);
  if (controller === "devices" && part === "addresses") return world.addresses.filter((each) => each.deviceId === id);
  return null;
}

function refused(code: number, message: string): Response {
  return Response.json({ code, success: false, message, time: 0.002 }, { status: code });
}
