// Components as a resource.

import { MEMBER, VIEWER } from "../../access/actor.ts";
import type { Resource } from "../resource.ts";
import { COMPONENT_EXAMPLE, Component, type ComponentRecord, componentKind } from "./component.ts";

export const componentResource: Resource<ComponentRecord> = {
  kind: componentKind,
  path: "components",
  group: "Components",
  about: "The chassis and stack members of hosts, by their devices' ENTITY-MIB. Only scans write them.",
  responseSchema: Component,
  example: COMPONENT_EXAMPLE,
  read: VIEWER,
  // With its host.
  write: MEMBER,
  isReadOnly: true,
};
