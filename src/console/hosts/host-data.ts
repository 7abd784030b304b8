// What the API answers of a host and its ports, by the names that these pages use.

import type { DataOf } from "../api/client.ts";

export type HostData = DataOf<"/api/v1/hosts/{id}">;
export type PortGroup = DataOf<"/api/v1/hosts/{id}/faceplate">["groups"][number];
export type FaceplatePort = PortGroup["ports"][number];
