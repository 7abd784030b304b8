// IP ranges as a resource.

import { MEMBER, VIEWER } from "../../access/actor.ts";
import type { Resource } from "../resource.ts";
import { IP_RANGE_EXAMPLE, IpRange, type IpRangeRecord, ipRangeKind } from "./ip-range.ts";

export const ipRangeResource: Resource<IpRangeRecord> = {
  kind: ipRangeKind,
  path: "ip-ranges",
  group: "IP ranges",
  about: "Ranges of addresses within a subnet, with their purpose.",
  responseSchema: IpRange,
  example: IP_RANGE_EXAMPLE,
  read: VIEWER,
  write: MEMBER,
};
