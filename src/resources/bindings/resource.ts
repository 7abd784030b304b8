// Bindings as a resource.

import { MEMBER, VIEWER } from "../../access/actor.ts";
import type { Resource } from "../resource.ts";
import { BINDING_EXAMPLE, Binding, type BindingRecord, bindingKind } from "./binding.ts";
import { BINDING_COLUMNS, composeBindingRows, composeBindings } from "./binding-view.ts";

export const bindingResource: Resource<BindingRecord> = {
  kind: bindingKind,
  path: "bindings",
  group: "Bindings",
  about: "Endpoints of services: a port of the host on one address or on all addresses, or an entire address.",
  responseSchema: Binding,
  compose: composeBindings,
  composeRows: composeBindingRows,
  columns: BINDING_COLUMNS,
  example: BINDING_EXAMPLE,
  read: VIEWER,
  write: MEMBER,
};
