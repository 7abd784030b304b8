// Fake server for phpIPAM's API, as documented: numbers are strings, and a list without objects is a 404.

type Row = Readonly<Record<string, unknown>>;

/** Rows in API format: all values are strings or null. */
export interface PhpipamFixture {
  sections: Row[];
  subnets: Row[];
  vlans: Row[];
  devices: Row[];
  addresses: Row[];
  tags: Row[];
  locations: Row[];
  /** Custom field columns by list, such as `subnets`, and by name. */
  columns?: Readonly<Record<string, Readonly<Record<string, Row>>>>;
}

export interface FakePhpipam {
  readonly url: string;
  stop(): Promise<void>;
}

export const PHPIPAM_APP = "netledger";

/** @param intercept called before the response, which its result replaces */
export function servePhpipam(
  fixture: PhpipamFixture,
  token: string,
  intercept: (path: string) => Response | null = () => null,
): FakePhpipam {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      const override = intercept(pathname);
      if (override !== null) return override;
      const [, app, path] = /^\/api\/([^/]+)(\/.*)$/.exec(pathname) ?? [];
      if (app !== PHPIPAM_APP) return errorResponse(400, "Invalid application id");
      if (request.headers.get("token") !== token) return errorResponse(403, "Invalid token");
      const columns = /^\/(\w+)\/custom_fields\/$/.exec(path ?? "")?.[1];
      if (columns !== undefined) {
        const data = fixture.columns?.[columns];
        if (data === undefined) return errorResponse(404, "No custom fields defined");
        return Response.json({ code: 200, success: true, data, time: 0.001 });
      }
      const rows = rowsOf(fixture, path ?? "");
      if (rows === null) return errorResponse(400, "Invalid controller");
      if (rows.length === 0) return errorResponse(404, "No objects found");
      return Response.json({ code: 200, success: true, data: rows, time: 0.004 });
    },
  });
  return { url: server.url.href.replace(/\/$/, ""), stop: () => server.stop(true) };
}

function rowsOf(fixture: PhpipamFixture, path: string): Row[] | null {
  const [, controller = "", id = "", part = ""] = path.split("/");
  if (path === "/tools/tags/") return fixture.tags;
  if (path === "/tools/locations/") return fixture.locations;
  if (path === "/vlan/") return fixture.vlans;
  if (path === "/devices/") return fixture.devices;
  if (path === "/sections/") return fixture.sections;
  if (controller === "sections" && part === "subnets") return fixture.subnets.filter((row) => row.sectionId === id);
  if (controller === "subnets" && part === "addresses") return fixture.addresses.filter((row) => row.subnetId === id);
  if (controller === "devices" && part === "addresses") return fixture.addresses.filter((row) => row.deviceId === id);
  return null;
}

function errorResponse(code: number, message: string): Response {
  return Response.json({ code, success: false, message, time: 0.002 }, { status: code });
}
