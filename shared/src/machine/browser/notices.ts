const most = 30;

/**
 * What happened on its own, reported once. Bounded: repeated sentences are counted, and beyond 30
 * only the number of further ones is kept.
 */
export interface Notices {
  add(sentence: string): void;
  take(): readonly string[];
}

/** Creates an empty list. */
export function createNotices(): Notices {
  const counts = new Map<string, number>();
  let more = 0;
  return {
    add(sentence) {
      if (counts.has(sentence) || counts.size < most) counts.set(sentence, (counts.get(sentence) ?? 0) + 1);
      else more++;
    },
    take() {
      const sentences = [...counts].map(([sentence, count]) =>
        count === 1 ? sentence : `${sentence} (${count} times)`,
      );
      if (more > 0) sentences.push(`And ${more} more such things happened.`);
      counts.clear();
      more = 0;
      return sentences;
    },
  };
}
