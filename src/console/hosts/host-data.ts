// API types of a host, its parts and its links, under the names used by the host pages.

import type { DataOf } from "../api/client.ts";
import type { ApiResponse } from "../api/response.ts";

export type ListedHost = DataOf<"/api/v1/hosts">[number];
export type HostData = Omit<DataOf<"/api/v1/hosts">[number], "counts">;
/** Number of parts by kind. */
export type HostCounts = NonNullable<DataOf<"/api/v1/hosts">[number]["counts"]>;
/** Last version of a deleted host. */
export type FinalHostVersion = DataOf<"/api/v1/hosts/{id}/history">[number];
export type HostAddress = DataOf<"/api/v1/ip-addresses">[number];
export type HostPort = DataOf<"/api/v1/ports">[number];
export type HostService = DataOf<"/api/v1/services">[number];
export type HostComponent = DataOf<"/api/v1/components">[number];
export type FaceplateData = DataOf<"/api/v1/hosts/{id}/faceplate">;
export type FaceplateResponse = ApiResponse<FaceplateData>;
export type PortGroup = FaceplateData["groups"][number];
export type FaceplatePort = PortGroup["ports"][number];
export type LinkedNode = DataOf<"/api/v1/topology">["nodes"][number];
export type HostLink = DataOf<"/api/v1/topology">["links"][number];
export type LinkEvidence = HostLink["evidence"][number];
