// Word lists written as one string, such as field names. The compiler knows each word.

/** Union of the words in a string. */
export type WordOf<Text extends string> = Text extends `${infer Head} ${infer Tail}` ? Head | WordOf<Tail> : Text;

/** Words of the strings, in order. */
export function wordList<const Text extends string>(...texts: readonly Text[]): readonly WordOf<Text>[] {
  return texts.join(" ").split(" ") as never;
}
