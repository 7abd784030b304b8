// What a record is called where one reads of it.

/** Tell one id from another; its beginning is a time. */
const ID_DIGITS = 8;

/**
 * The first of its names that can be seen; else the end of its id.
 * @param names in the order in which they are preferred; null, undefined and texts without anything to see are none
 */
export function shownName(id: string, ...names: readonly (string | null | undefined)[]): string {
  return names.find((name) => name !== null && name !== undefined && isVisible(name)) ?? endOfId(id);
}

interface NamedInterface {
  readonly if_name?: string | null | undefined;
  readonly if_descr?: string | null | undefined;
  readonly if_index?: number | undefined;
}

/** `Gi1/0/7`; its description or `#10107` where a device has not told a name that can be seen. */
export function interfaceName({ if_name, if_descr, if_index }: NamedInterface): string {
  return [if_name, if_descr].find((name) => name != null && isVisible(name)) ?? `#${if_index}`;
}

/** `…7f3a91c2`. */
export function endOfId(id: string): string {
  return `…${id.slice(-ID_DIGITS)}`;
}

/** As the appliance has it: of white space, marks of format and letters that stand for none nothing is seen. */
function isVisible(text: string): boolean {
  return /[^\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}
