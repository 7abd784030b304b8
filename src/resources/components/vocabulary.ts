// Classes of components. Imports no schemas, since discovery uses it too.

export const COMPONENT_CLASSES = ["Chassis", "StackMember"] as const;
export type ComponentClass = (typeof COMPONENT_CLASSES)[number];
