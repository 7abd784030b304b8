// Word lists written as one string.

type Words<Text extends string, Before extends readonly string[] = []> = Text extends `${infer Word} ${infer Rest}`
  ? Words<Rest, [...Before, Word]>
  : readonly [...Before, Text];

/** The space-separated words of a string, as a typed tuple. */
export function wordList<const Text extends string>(text: Text): Words<Text> {
  return text.split(" ") as unknown as Words<Text>;
}
